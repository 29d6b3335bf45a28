// engine/infer/node_figures.h - the figures of nodes whose predictions come row by row, on the host.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/infer/class_tally.h"
#include "engine/infer/node_scores.h"
#include "engine/infer/value_sums.h"
#include "engine/report/metric.h"
#include "store/dataset.h"

namespace salient {

/// Labels that are not known count for nothing, and neither do classes that the run does not know (seen_by_run.h).
/// Memory: a few counts; where there is a ROC AUC, what NodeScores takes
class NodeFigures {
 public:
  /// @param dataset  outlives this
  explicit NodeFigures(const Dataset& dataset);

  /// @param logits  [C] of a node; values in the targets' unit   @param best  the class of the highest
  void add(NodeId node, std::span<const float> logits, std::int32_t best);

  /// Of its task, but for accuracy and micro-F1, which InferenceCounts have; none without a known label.
  Figures figures() const;

 private:
  const Dataset& dataset_;
  std::optional<NodeScores> scores_{};  // of two classes, and of labels
  ClassTally tally_{};                  // of one class a node
  std::vector<ValueSums> values_{};     // [T] of values
};

}  // namespace salient
