// engine/core/machine.cpp - see machine.h.
#include "engine/core/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <sstream>

namespace salient {
namespace {

/// The rest of the first line of `path` that starts with `key`, without blanks and colon around it.
std::string value_of(const char* path, const std::string& key) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t from = line.find_first_not_of(" \t:", key.size());
    return from == std::string::npos ? "" : line.substr(from);
  }
  return "";
}

std::int64_t kilobytes_of(const char* path, const std::string& key) {
  std::int64_t kilobytes = 0;
  std::istringstream(value_of(path, key)) >> kilobytes;
  return kilobytes * 1024;
}

int cgroup_cpus() {
  std::ifstream file("/sys/fs/cgroup/cpu.max");  // "QUOTA PERIOD" or "max PERIOD"
  double quota = 0, period = 0;
  if (!(file >> quota >> period) || period <= 0) return std::numeric_limits<int>::max();
  return std::max(1, static_cast<int>(std::lround(quota / period)));
}

}  // namespace

int num_usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int in_mask = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
  return std::max(1, std::min(in_mask, cgroup_cpus()));
}

std::string cpu_model() { return value_of("/proc/cpuinfo", "model name"); }

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "unknown";
}

std::int64_t resident_bytes() { return kilobytes_of("/proc/self/status", "VmRSS"); }

std::int64_t peak_resident_bytes() { return kilobytes_of("/proc/self/status", "VmHWM"); }

std::int64_t total_host_bytes() {
  const std::int64_t total = kilobytes_of("/proc/meminfo", "MemTotal");
  std::ifstream limit_file("/sys/fs/cgroup/memory.max");
  std::int64_t limit = 0;
  return limit_file >> limit ? std::min(total, limit) : total;
}

std::int64_t available_host_bytes() {
  std::int64_t available = kilobytes_of("/proc/meminfo", "MemAvailable");
  std::ifstream limit_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  std::int64_t limit = 0, used = 0;
  if (limit_file >> limit && used_file >> used) available = std::min(available, limit - used);
  return available;
}

}  // namespace salient
