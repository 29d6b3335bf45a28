// prepare/writing/stream_plan.h - what an import in bounded memory uses, decided before it begins.
#pragma once

#include <cstdint>
#include <string>

namespace salient {

struct StreamSize {
  std::uint64_t num_nodes = 0;
  std::uint64_t num_keys = 0;     ///< adjacency entries before repeats are dropped
  std::uint64_t row_bytes = 0;    ///< of a feature row as stored
  std::uint64_t label_bytes = 4;  ///< of a node's labels as stored
  std::uint64_t split_bytes = 0;  ///< memory for the node ids of the split
  int num_threads = 1;
};

struct StreamPlan {
  unsigned num_buckets = 2;
  std::size_t buffer_keys = 0;   ///< per bucket, while edges are spread
  std::size_t sort_bytes = 0;    ///< for one bucket at a time, afterwards
  std::uint64_t disk_bytes = 0;  ///< the most that lies on disk at one time, an upper bound
};

/// @param memory_bytes  resident memory of the whole process, program included
/// @param what          named in the error
/// @throws Error{kHostMemory} when that is not enough, saying what is.
StreamPlan plan_stream(const StreamSize& size, std::uint64_t memory_bytes, const std::string& what);

}  // namespace salient
