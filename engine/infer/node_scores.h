// engine/infer/node_scores.h - the input of ROC AUC and average precision: labels 0 or 1, and the model's score for 1.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "engine/report/metric.h"
#include "store/dataset.h"

namespace salient {

/// Whether its task is one of two classes (one label) or multi-label.
bool has_roc_auc(const Dataset& dataset);

/// T: 1 for two classes, else the labels of a node.
std::size_t num_binary_labels(const Dataset& dataset);

/// [T, n] 1, 0 or -1 for not known, label after label; for a data set that has_roc_auc().
std::vector<std::int8_t> binary_labels(const Dataset& dataset, std::span<const NodeId> nodes);

/// What mean_roc_auc() of so many nodes takes: scores and labels, label after label, and what is sorted of one label.
std::int64_t roc_auc_bytes(const Dataset& dataset, std::size_t num_nodes);

/// Takes the logits of nodes as they come and keeps those with a known label: 4 bytes per label.
class NodeScores {
 public:
  /// @param dataset  has_roc_auc(); outlives the scores
  explicit NodeScores(const Dataset& dataset) : dataset_(dataset) {}

  /// @param logits  [C] of a node
  void add(NodeId node, std::span<const float> logits);

  /// mean_roc_auc() and mean_average_precision() of what was added.
  void add_to(Figures& figures) const;

 private:
  const Dataset& dataset_;
  std::vector<NodeId> kept_{};
  std::vector<float> scores_{};  // [kept, T]
};

}  // namespace salient
