// core/host/cgroup.cpp - see cgroup.h.
#include "core/host/cgroup.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

namespace salient {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

Words words_of(const fs::path& path) {
  std::ifstream file(path);
  return {std::istream_iterator<std::string>(file), {}};
}

/// Words that are none: "max" (version 2), "-1" (version 1), and what a file lacks.
std::optional<std::int64_t> number_at(const Words& words, std::size_t i) {
  if (i >= words.size()) return std::nullopt;
  const char* const end_of_word = words[i].data() + words[i].size();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(words[i].data(), end_of_word, number);
  if (error != std::errc() || end != end_of_word || number < 0) return std::nullopt;
  return number;
}

std::optional<std::int64_t> number_after(const Words& words, const char* key) {
  return number_at(words, static_cast<std::size_t>(std::ranges::find(words, key) - words.begin()) + 1);
}

struct MemoryFiles {
  const char *limit, *used, *active_file, *inactive_file;  // the last two are lines of memory.stat
};
constexpr MemoryFiles kMemoryFiles2{"memory.max", "memory.current", "active_file", "inactive_file"};
constexpr MemoryFiles kMemoryFiles1{"memory.limit_in_bytes", "memory.usage_in_bytes", "total_active_file",
                                    "total_inactive_file"};

void apply_memory(CgroupLimits& limits, const fs::path& group, const MemoryFiles& files) {
  const auto limit = number_at(words_of(group / files.limit), 0);
  if (!limit) return;
  // A store that was read is in the page cache, which counts as used although the kernel drops it on demand.
  const Words stat = words_of(group / "memory.stat");
  const std::int64_t reclaimable =
      number_after(stat, files.active_file).value_or(0) + number_after(stat, files.inactive_file).value_or(0);
  const std::int64_t used = number_at(words_of(group / files.used), 0).value_or(0);
  const std::int64_t held = std::max<std::int64_t>(0, used - reclaimable);
  limits.memory_bytes = std::min(limits.memory_bytes, *limit);
  limits.free_memory_bytes = std::min(limits.free_memory_bytes, std::max<std::int64_t>(0, *limit - held));
}

void apply_cores(CgroupLimits& limits, std::optional<std::int64_t> quota, std::optional<std::int64_t> period) {
  if (!quota || !period || *quota == 0 || *period == 0) return;
  limits.cores = std::min(limits.cores, static_cast<double>(*quota) / static_cast<double>(*period));
}

/// Calls apply(folder) for a group and those above it. In a container the path may be the one on the host, while its
/// own group is mounted at `mount`: then the folders below are not there, and `mount` itself has the limits.
template <class Apply>
void for_each_from(const fs::path& mount, const fs::path& group, Apply apply) {
  fs::path below = group.relative_path();
  for (; !below.empty(); below = below.parent_path()) apply(mount / below);
  apply(mount);
}

}  // namespace

CgroupLimits cgroup_limits(const fs::path& root) {
  CgroupLimits limits;
  const fs::path mounts = root / "sys/fs/cgroup";
  std::ifstream groups(root / "proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {  // "0::/a/b" in version 2, "4:cpu,cpuacct:/a/b" in version 1
    std::istringstream fields(line);
    std::string number, controllers, group;
    if (!std::getline(fields, number, ':') || !std::getline(fields, controllers, ':') || !std::getline(fields, group))
      continue;
    const auto has = [list = "," + controllers + ","](const char* name) {
      return list.find(name) != std::string::npos;
    };
    if (controllers.empty())
      for_each_from(mounts, group, [&](const fs::path& folder) {
        apply_memory(limits, folder, kMemoryFiles2);
        const Words quota_and_period = words_of(folder / "cpu.max");
        apply_cores(limits, number_at(quota_and_period, 0), number_at(quota_and_period, 1));
      });
    if (has(",memory,"))
      for_each_from(mounts / "memory", group,
                    [&](const fs::path& folder) { apply_memory(limits, folder, kMemoryFiles1); });
    if (has(",cpu,"))
      for_each_from(mounts / "cpu", group, [&](const fs::path& folder) {
        apply_cores(limits, number_at(words_of(folder / "cpu.cfs_quota_us"), 0),
                    number_at(words_of(folder / "cpu.cfs_period_us"), 0));
      });
  }
  return limits;
}

}  // namespace salient
