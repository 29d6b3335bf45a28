// core/host/machine.cpp - see machine.h.
#include "core/host/machine.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <memory>
#include <sstream>

#include "core/host/cgroup.h"

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

struct FreeCpuSet {
  void operator()(cpu_set_t* set) const noexcept { CPU_FREE(set); }
};

}  // namespace

std::vector<int> cores_of_process(pid_t process, AskForAffinity ask) {
  constexpr std::size_t kFewestBits = CPU_SETSIZE, kMostBits = std::size_t{1} << 20;
  for (std::size_t num_bits = kFewestBits; num_bits <= kMostBits; num_bits *= 2) {
    const std::unique_ptr<cpu_set_t, FreeCpuSet> set(CPU_ALLOC(num_bits));
    const std::size_t bytes = CPU_ALLOC_SIZE(num_bits);
    CPU_ZERO_S(bytes, set.get());
    if (ask(process, bytes, set.get()) == 0) {
      std::vector<int> cores;
      for (std::size_t core = 0; core < num_bits; ++core)
        if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(static_cast<int>(core));
      return cores;
    }
    if (errno != EINVAL) break;  // EINVAL: the host may have more processors than the mask has bits
  }
  return {};
}

int num_usable_cores(const fs::path& root) {
  const auto in_mask = static_cast<double>(cores_of_process().size());
  return std::max(1, static_cast<int>(std::lround(std::min(in_mask, cgroup_limits(root).cores))));
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
