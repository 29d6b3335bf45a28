// core/host/cgroup.h - what control groups (a container's, a Slurm job's, a systemd slice's) leave to this process.
//
// By hand: hwloc reads a group's processors, neither its memory nor its quota.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>

namespace salient {

/// What nothing limits has the largest number.
struct CgroupLimits {
  std::int64_t memory_bytes = std::numeric_limits<std::int64_t>::max();       ///< the group may use, in all
  std::int64_t free_memory_bytes = std::numeric_limits<std::int64_t>::max();  ///< the group may still take
  double cores = std::numeric_limits<double>::max();
};

/// The lowest limits of this process' group and of all groups above it, in version 2 or 1 of control groups.
/// A missing file, or one with something else than numbers, sets no limit.
/// @param root  of the file system; tests make up others.
CgroupLimits cgroup_limits(const std::filesystem::path& root = "/");

}  // namespace salient
