// sampler/exclusions.h - entries of a graph that a batch must not see: those of the links that it is to predict.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/types.h"

namespace salient {

/// Places of few rows. It keeps its memory from batch to batch.
class Exclusions {
 public:
  void clear() noexcept;

  /// The entry at `place` of row `node`; may come twice. Then finish().
  void add(NodeId node, std::uint32_t place) { entries_.push_back(std::uint64_t{node} << 32 | place); }

  /// All entries of a link and of its reverse: `source` in row `destination`, and the other way round, parallel ones
  /// too.
  /// @param graph  a plain one
  /// Cost: two binary searches; of rows that ascend by times, and not by neighbour, two passes over them.
  void add_link(const CsrGraph& graph, NodeId source, NodeId destination);

  /// After the last entry. Cost: one sort of them.
  void finish();

  /// Of a row: its excluded places, ascending, each once. Of nearly all rows without any, one look at a bit.
  std::span<const std::uint32_t> of(NodeId node) const {
    const std::uint32_t bit = hash_of(node) & filter_mask_;
    if ((filter_[bit / 64] >> bit % 64 & 1) == 0) [[likely]]
      return {};
    return find(node);
  }

  std::size_t num_entries() const { return places_.size(); }

 private:
  static std::uint32_t hash_of(NodeId node) { return node * 0x9E3779B1u >> 8; }
  std::span<const std::uint32_t> find(NodeId node) const;
  void add_entries(const CsrGraph& graph, NodeId row, NodeId neighbor);

  std::vector<std::uint64_t> entries_{};  // node << 32 | place
  std::vector<NodeId> rows_{};            // ascending
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
