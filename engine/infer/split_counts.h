// engine/infer/split_counts.h - how well the nodes of each part of the split are predicted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/enum_names.h"
#include "core/types.h"
#include "engine/infer/inference_round.h"
#include "engine/infer/node_figures.h"
#include "store/dataset.h"

namespace salient {

/// In the order in which they are reported.
enum class Split : std::uint8_t { kTest, kValid, kTrain };
constexpr auto names_of(Split) {
  return std::to_array<EnumName<Split>>({{Split::kTest, "test"}, {Split::kValid, "valid"}, {Split::kTrain, "train"}});
}

/// Counts as AccuracyCounter does, and scores as NodeFigures, on the host, of nodes that belong to a split.
/// Cost: a byte a node of the graph, and what NodeFigures take
class SplitCounts {
 public:
  /// @param nodes  those that are predicted; outlive this, as does the data set
  SplitCounts(const Dataset& dataset, std::span<const NodeId> nodes);
  SplitCounts(const SplitCounts&) = delete;
  SplitCounts& operator=(const SplitCounts&) = delete;

  /// The next rows. @param classes  of each row `classes.size() / rows`, the best first
  void add(std::span<const float> logits, std::span<const std::int32_t> classes);

  bool has(Split split, NodeId node) const { return split_of_[node] == 1 + static_cast<std::uint8_t>(split); }
  const InferenceCounts& of(Split split) const { return parts_[static_cast<std::size_t>(split)].counts; }
  /// As NodeFigures::figures().
  Figures figures(Split split) const { return parts_[static_cast<std::size_t>(split)].figures.figures(); }

 private:
  struct Part {
    explicit Part(const Dataset& dataset) : figures(dataset) {}
    InferenceCounts counts{};
    NodeFigures figures;
  };
  void count(InferenceCounts& counts, NodeId node, std::span<const float> row, std::int32_t best) const;

  const Dataset& dataset_;
  std::span<const NodeId> nodes_;
  std::vector<std::uint8_t> split_of_;  // 1 + Split, or 0
  std::array<Part, 3> parts_;
  std::size_t num_seen_ = 0;
};

}  // namespace salient
