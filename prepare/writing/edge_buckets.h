// prepare/writing/edge_buckets.h - adjacency entries sorted on disk: more of them than memory holds.
//
// An entry is a key, row * 2^32 + column, so that sorted keys are a graph. Keys are spread over files by range; each
// file is then sorted in memory. A range that holds too many keys is spread over files again: rows, then single rows,
// then parts of a row, so that no distribution of degrees breaks the memory limit.
// By hand: libraries for sorting on disk (stxxl) are not maintained, and keep the repeats.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <vector>

#include "core/console/progress.h"
#include "core/host/descriptor.h"
#include "core/host/huge_vector.h"
#include "core/types.h"
#include "store/csr_arrays.h"

namespace salient {

constexpr std::uint64_t entry_key(NodeId row, NodeId column) { return std::uint64_t{row} << 32 | column; }
constexpr NodeId row_of_key(std::uint64_t key) { return static_cast<NodeId>(key >> 32); }

/// A file of keys, each in [first, last].
struct EdgeBucket {
  std::filesystem::path file{};
  std::uint64_t first = 0, last = 0;
  std::uint64_t count = 0;
};

/// Writes keys into one file per range.
///
/// Memory: max_buckets * buffer_keys * 8 bytes. Threads: one.
class EdgeBuckets {
 public:
  static constexpr unsigned kMaxBuckets = 256;  ///< files that are open at the same time

  /// @param prefix        of the files' names: PREFIX0, PREFIX1, ...; none of them exists
  /// @param first, last   every key is in [first, last]
  /// @param max_buckets   at least 2, at most kMaxBuckets; more than half as many are used, if there are as many keys
  EdgeBuckets(const std::filesystem::path& prefix, std::uint64_t first, std::uint64_t last, unsigned max_buckets,
              std::size_t buffer_keys);

  /// @throws Error{kIo}
  void add(std::uint64_t key) {
    Open& bucket = open_[static_cast<std::size_t>((key - first_) >> shift_)];
    bucket.buffer[bucket.buffered++] = key;
    if (bucket.buffered == buffer_keys_) flush(bucket);
  }

  /// Those that are not empty, in ascending order of keys; nothing is added after. @throws Error{kIo}
  std::vector<EdgeBucket> close();

 private:
  struct Open {
    EdgeBucket bucket{};
    Descriptor file{};
    std::uint64_t* buffer = nullptr;
    std::size_t buffered = 0;
  };
  void flush(Open& bucket);

  const std::uint64_t first_;
  unsigned shift_ = 0;
  const std::size_t buffer_keys_;
  UnsetHugeVector<std::uint64_t> buffers_;
  std::vector<Open> open_;
};

/// A slice of a graph: row i of `rows` is node `first_row` + i.
using UseRows = std::function<void(NodeId first_row, const CsrArrays& rows)>;

/// Hands the bucket's entries to `use` in ascending order without repeats, and deletes its file. A row that does not
/// fit into memory comes in several slices, of which each repeats it as its only row.
///
/// @param memory_bytes  the most to use, at least kMinSortBytes
/// @param progress      of the caller; advances by bucket.count in all, or more when a bucket was split
/// @throws Error{kIo}
/// Determinism: what `use` gets, slices put together, depends on the set of keys alone. Runs in the caller's arena.
/// Oracle:      std::sort and std::unique of all keys.
void sort_bucket(const EdgeBucket& bucket, std::size_t memory_bytes, Progress& progress, const UseRows& use);

inline constexpr std::size_t kMinSortBytes = std::size_t{64} << 10;

/// What sorting a bucket of so many keys and rows takes.
constexpr std::uint64_t sort_bytes(std::uint64_t num_keys, std::uint64_t num_rows) {
  return num_keys * sizeof(NodeId) + num_rows * (sizeof(EdgeOffset) + sizeof(NodeId));
}

}  // namespace salient
