// apps/doctor/host_checks.cpp - see host_checks.h.
#include "apps/doctor/host_checks.h"

#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <fstream>
#include <limits>
#include <sstream>
#include <string>

#include "core/host/cgroup.h"
#include "core/host/machine.h"
#include "core/number_text.h"

namespace salient::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;
constexpr std::int64_t kNfs = 0x6969, kSmb = 0x517B;

/// The first line of `path` that begins with `start`; empty without one.
std::string line_of(const fs::path& path, const std::string& start) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);)
    if (line.starts_with(start)) return line;
  return "";
}

bool has_word(const std::string& line, const std::string& wanted) {
  std::istringstream words(line);
  for (std::string word; words >> word;)
    if (word == wanted) return true;
  return false;
}

}  // namespace

Finding check_processor(const fs::path& root) {
  const std::string flags = line_of(root / "proc/cpuinfo", "flags");
  const int cores = num_usable_cores(root);
  const std::string found = cpu_model() + ", " + std::to_string(cores) + (cores == 1 ? " core" : " cores");
  for (const char* needed : {"avx2", "fma", "f16c"})
    if (!has_word(flags, needed))
      return {"processor", State::kMissing, found + ", without " + needed, "the programs need a processor with AVX2"};
  const CgroupLimits limits = cgroup_limits(root);
  const auto visible = static_cast<double>(cores_of_process().size());
  if (limits.cores < visible)
    return {"processor", State::kSlow, found + " of " + fixed(visible, 0) + " by the control group's quota",
            "raise the quota (docker run --cpus, Slurm's --cpus-per-task)"};
  if (cores == 1)
    return {"processor", State::kSlow, found, "give it more cores: one prepares batches while others compute"};
  return {"processor", State::kFine, found, ""};
}

Finding check_memory(const fs::path& root) {
  const std::int64_t total = total_host_bytes(root), available = available_host_bytes(root);
  const bool is_limited = cgroup_limits(root).memory_bytes <= total;
  const std::string found = gigabytes(available, 1) + " free of " + gigabytes(total, 1) +
                            (is_limited ? ", the limit of the control group" : "");
  if (available < 2 * kGiB)
    return {"memory", State::kSlow, found, "end other programs or raise the limit; graph and features must fit"};
  return {"memory", State::kFine, found, ""};
}

std::uint64_t pinned_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::uint64_t>::max();
  return limit.rlim_cur;
}

Finding check_pinned_limit(std::uint64_t limit, const fs::path& root) {
  const bool is_unlimited = limit == std::numeric_limits<std::uint64_t>::max();
  const std::string found = is_unlimited ? "no limit" : "ulimit -l " + std::to_string(limit / 1024) + " KiB";
  std::error_code error;
  const bool has_infiniband = fs::exists(root / "dev/infiniband", error);
  if (has_infiniband && limit < static_cast<std::uint64_t>(kGiB))
    return {"pinned memory", State::kSlow, found, "InfiniBand needs ulimit -l unlimited (/etc/security/limits.conf)"};
  return {"pinned memory", State::kFine, found + (is_unlimited || has_infiniband ? "" : ", does not bound CUDA"), ""};
}

Finding check_shared_memory(const fs::path& root) {
  struct statvfs space {};
  const char* const advice = "several ranks on this host need 1 GiB: docker run --shm-size=1g, or mount a tmpfs";
  if (statvfs((root / "dev/shm").c_str(), &space) != 0) return {"/dev/shm", State::kSlow, "not there", advice};
  const auto free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  const std::string found = gigabytes(free_bytes, 2) + " free";
  if (free_bytes < kGiB) return {"/dev/shm", State::kSlow, found, advice};
  return {"/dev/shm", State::kFine, found, ""};
}

Finding check_huge_pages(const fs::path& root) {
  const std::string modes = line_of(root / "sys/kernel/mm/transparent_hugepage/enabled", "");
  if (modes.find("[always]") == std::string::npos && modes.find("[madvise]") == std::string::npos)
    return {"huge pages", State::kSlow, modes.empty() ? "the kernel has none" : modes,
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, as root: sampling is then a third faster"};
  return {"huge pages", State::kFine, modes, ""};
}

Finding check_disk(const fs::path& folder) {
  struct statvfs space {};
  struct statfs kind {};
  const std::string name = folder.string();
  if (statvfs(folder.c_str(), &space) != 0 || statfs(folder.c_str(), &kind) != 0)
    return {"disk", State::kMissing, name + " cannot be looked at", "start in a folder that you may read"};
  const auto free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
  const std::string found = gigabytes(free_bytes, 1) + " free in " + name;
  if (access(folder.c_str(), W_OK) != 0)
    return {"disk", State::kMissing, found + ", where you may not write", "start in another folder, or name --out"};
  if (free_bytes < kGiB) return {"disk", State::kSlow, found, "runs and data sets need space: name another --out"};
  if (kind.f_type == kNfs || kind.f_type == kSmb)
    return {"disk", State::kSlow, found + ", over the network", "keep data sets on a local disk (--data-root)"};
  return {"disk", State::kFine, found, ""};
}

}  // namespace salient::doctor
