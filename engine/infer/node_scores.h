// engine/infer/node_scores.h - the input of ROC AUC: labels 0 or 1, and the model's score for 1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/types.h"
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
  /// @param dataset  has_roc_auc(); outlives the scores   @param nodes  outlive them
  NodeScores(const Dataset& dataset, std::span<const NodeId> nodes) : dataset_(dataset), nodes_(nodes) {}

  /// @param logits  [m, C] of the next m nodes
  void add(std::span<const float> logits);

  /// mean_roc_auc() of what was added.
  std::optional<double> roc_auc() const;

 private:
  const Dataset& dataset_;
  std::span<const NodeId> nodes_;
  std::size_t num_seen_ = 0;
  std::vector<NodeId> kept_{};
  std::vector<float> scores_{};  // [kept, T]
};

}  // namespace salient
