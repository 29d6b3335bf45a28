// sampler/exclusions.h - entries of a graph that a batch must not see: those of the links that it is to predict.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/philox.h"
#include "core/types.h"

namespace salient {

/// Rows are below 2^32. @throws Error{kUsage} for a typed graph that has more of them
void require_rows_of_exclusions(const CsrGraph& graph);

/// All entries of a row that are this neighbour, parallel ones too: row, then neighbour, in the order of numbers.
using EntryKey = std::uint64_t;
SALIENT_HOST_DEVICE constexpr EntryKey entry_key(std::uint32_t row, NodeId neighbor) {
  return EntryKey{row} << 32 | neighbor;
}
SALIENT_HOST_DEVICE constexpr std::uint32_t row_of(EntryKey key) { return static_cast<std::uint32_t>(key >> 32); }
SALIENT_HOST_DEVICE constexpr NodeId neighbor_of(EntryKey key) { return static_cast<NodeId>(key); }

/// Places of few rows: of a typed graph of slots. It keeps its memory from batch to batch.
class Exclusions {
 public:
  void clear() noexcept;

  /// The entry at `place` of a row; may come twice. Then finish().
  void add(std::uint32_t row, std::uint32_t place) { entries_.push_back(std::uint64_t{row} << 32 | place); }

  /// Cost: two binary searches; of rows that ascend by times, and not by neighbour, a pass over them.
  void add_entries(const CsrGraph& graph, EntryKey entries);

  /// After the last entry. Cost: one sort of them.
  void finish();

  /// Of a row: its excluded places, ascending, each once. Of nearly all rows without any, one look at a bit.
  std::span<const std::uint32_t> of(std::uint32_t row) const {
    const std::uint32_t bit = hash_of(row) & filter_mask_;
    if ((filter_[bit / 64] >> bit % 64 & 1) == 0) [[likely]]
      return {};
    return find(row);
  }

  std::size_t num_entries() const { return places_.size(); }

 private:
  static std::uint32_t hash_of(std::uint32_t row) { return row * 0x9E3779B1u >> 8; }
  std::span<const std::uint32_t> find(std::uint32_t row) const;

  std::vector<std::uint64_t> entries_{};  // row << 32 | place
  std::vector<std::uint32_t> rows_{};     // ascending
  std::vector<std::uint32_t> begin_{0};   // [rows + 1] in places_
  std::vector<std::uint32_t> places_{};
  std::vector<std::uint64_t> filter_ = std::vector<std::uint64_t>(1);  // bits of hashes of rows_
  std::uint32_t filter_mask_ = 63;
};

/// What a draw from the other entries of a row means: the place of the entry with `rank` among those.
/// @param excluded  ascending
inline std::uint32_t place_of_rank(std::uint32_t rank, std::span<const std::uint32_t> excluded) {
  std::uint32_t place = rank;
  for (const std::uint32_t skipped : excluded) {
    if (skipped > place) break;
    ++place;
  }
  return place;
}

}  // namespace salient
