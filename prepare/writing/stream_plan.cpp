// prepare/writing/stream_plan.cpp - see stream_plan.h.
#include "prepare/writing/stream_plan.h"

#include <algorithm>

#include "core/error.h"
#include "core/number_text.h"
#include "prepare/writing/edge_buckets.h"

namespace salient {

namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kFixed = 40 * kMiB;  // program, libraries, blocks of the streams, buffers of the files
constexpr std::uint64_t kPerThread = kMiB;   // stack, allocator, a block of keys
constexpr std::uint64_t kLeastToSort = 8 * kMiB;
constexpr std::size_t kMostBuffer = std::size_t{128} << 10;  // keys

}  // namespace

StreamPlan plan_stream(const StreamSize& size, std::uint64_t memory_bytes, const std::string& what) {
  const std::uint64_t fixed = kFixed + static_cast<std::uint64_t>(size.num_threads) * kPerThread + size.split_bytes;
  const std::uint64_t node_bytes = size.label_bytes + 1;  // labels and split at the beginning, degrees at the end
  const std::uint64_t least = fixed + std::max(node_bytes * size.num_nodes, kLeastToSort);
  if (memory_bytes < least)
    fail(ErrorKind::kHostMemory,
         what + ": needs at least " + gigabytes_needed(least) + " of memory, " + gigabytes(memory_bytes) +
             " are allowed",
         Topic::kPrepareMemory);
  StreamPlan plan;
  plan.sort_bytes = static_cast<std::size_t>(memory_bytes - fixed);
  const std::uint64_t all = sort_bytes(size.num_keys, size.num_nodes);
  // Aim at buckets of a quarter to a half of what fits, as degrees are never even.
  plan.num_buckets =
      static_cast<unsigned>(std::clamp<std::uint64_t>(4 * all / plan.sort_bytes + 1, 2, EdgeBuckets::kMaxBuckets));
  plan.buffer_keys = std::min(plan.sort_bytes / plan.num_buckets / sizeof(std::uint64_t), kMostBuffer);
  const std::uint64_t per_node = size.row_bytes + sizeof(EdgeOffset) + size.label_bytes;
  const std::uint64_t one_bucket = std::min<std::uint64_t>(plan.sort_bytes, size.num_keys * sizeof(NodeId));
  plan.disk_bytes = size.num_nodes * per_node + size.num_keys * sizeof(std::uint64_t) +
                    one_bucket;  // its file goes when its rows are written
  return plan;
}

}  // namespace salient
