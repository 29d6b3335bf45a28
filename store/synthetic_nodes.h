// store/synthetic_nodes.h - labels, features and split of a synthetic data set, one node at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/philox.h"
#include "store/synthetic_graph.h"

namespace salient {

inline constexpr float kNoiseScale = 1 / 147.8F;  ///< the sum of four uniform bytes has this deviation

/// Of generated features in fp8: 448 times it are 7, and none is beyond (510 + feature_signal) / 147.8.
inline constexpr float kSyntheticFp8Scale = 0x1p-6F;

/// Threads: any number may ask at the same time. Memory: what is small, next to nothing per node.
class SyntheticNodes {
 public:
  /// @param options  must outlive this
  explicit SyntheticNodes(const SyntheticOptions& options);

  const Communities& communities() const { return communities_; }

  /// Train, valid, test.
  std::array<std::vector<NodeId>, 3> split() const;

  /// The community, or with probability 1 - fidelity that of a random node. Only nodes of the split have a label.
  std::int32_t label_of(NodeId node) const;

  /// Feature j of a node = (+-signal by (community, j), + the noise of (node, j)) / 147.8. The noise is the sum of four
  /// bytes less its mean: whole numbers up to one multiplication, so that every machine gets the same bits.
  /// @param row  [row_items()]; the first feature_dim are the features, the rest is padding
  void draw_features(NodeId node, std::span<float> row) const;
  /// Rows of nodes first to first + count - 1 as a store has them.
  /// @param out  [count * feature_dim] feature_type
  void write_features(std::size_t first, std::size_t count, std::byte* out) const;
  std::size_t row_items() const { return (static_cast<std::size_t>(options_.feature_dim) + 3) / 4 * 4; }

 private:
  std::uint64_t first_rank_of_split() const;
  PhiloxBlock draw(SyntheticDraw what, std::uint32_t a, std::uint32_t b = 0) const;

  const SyntheticOptions& options_;
  const Communities communities_;
  std::vector<float> means_;  ///< [num_classes, row_items()]
};

}  // namespace salient
