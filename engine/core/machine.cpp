// engine/core/machine.cpp - see machine.h.
#include "engine/core/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>

#include "engine/core/cgroup.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// The rest of the first line of `path` that starts with `key`, without blanks and colon around it.
std::string value_of(const fs::path& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t from = line.find_first_not_of(" \t:", key.size());
    return from == std::string::npos ? "" : line.substr(from);
  }
  return "";
}

std::int64_t bytes_of(const fs::path& path, const std::string& key) {
  std::int64_t kilobytes = 0;
  std::istringstream(value_of(path, key)) >> kilobytes;
  return kilobytes * 1024;
}

}  // namespace

int num_usable_cores(const fs::path& root) {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int in_mask = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  const double in_groups = cgroup_limits(root).cores;
  return std::max(1, static_cast<int>(std::lround(std::min<double>(in_mask, in_groups))));
}

std::string cpu_model() { return value_of("/proc/cpuinfo", "model name"); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::int64_t resident_bytes() { return bytes_of("/proc/self/status", "VmRSS"); }

std::int64_t peak_resident_bytes() { return bytes_of("/proc/self/status", "VmHWM"); }

std::int64_t total_host_bytes(const fs::path& root) {
  return std::min(bytes_of(root / "proc/meminfo", "MemTotal"), cgroup_limits(root).memory_bytes);
}

std::int64_t available_host_bytes(const fs::path& root) {
  return std::min(bytes_of(root / "proc/meminfo", "MemAvailable"), cgroup_limits(root).free_memory_bytes);
}

}  // namespace salient
