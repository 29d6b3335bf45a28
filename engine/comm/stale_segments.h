// engine/comm/stale_segments.h - shared memory that MPI runs left behind when they were killed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace salient {

/// Of one job: OpenMPI's segments DIR/vader_segment.HOST.UID.JOB.RANK, or sm_segment... (since OpenMPI 5).
struct StaleSegments {
  std::string pattern{};  ///< of their paths, for a shell: "/dev/shm/vader_segment.node7.0.2bbc0001.*"
  int count = 0;
  std::int64_t bytes = 0;
};

/// Those of this user on this host that no process maps and that are older than ten seconds. None where that cannot be
/// found out.
/// @param root  of the file system; tests make up others.
std::vector<StaleSegments> stale_segments(const std::string& host, const std::filesystem::path& root = "/");

}  // namespace salient
