// engine/train/score.h - how good a model is on a set of nodes: by accuracy, by ROC AUC, or by F1.
#pragma once

#include <optional>
#include <span>

#include "engine/comm/communicator.h"
#include "engine/infer/sampled_inference.h"
#include "engine/train/metric.h"
#include "store/dataset.h"

namespace salient {

/// @param wanted  none: ROC AUC for a data set of two classes or of several labels a node, else accuracy.
/// @throws Error{kUsage} for ROC AUC with another number of classes, and for F1 with one class a node; Error{kBadData}
///         where it is not defined: the validation or test nodes are all of one class, in every label.
Metric metric_for(std::optional<Metric> wanted, const Dataset& dataset);

struct Score {
  double value = 0;  ///< of the metric; 0 where no node is labelled
  double accuracy = 0;
  std::optional<double> rocauc{};  ///< if that is the metric
  std::optional<double> f1{};      ///< of several labels a node
  double seconds = 0;
};

/// Nodes, and the figure that their predictions are measured by. A value of references.
struct ScoredNodes {
  Metric metric;
  const Dataset& dataset;
  std::span<const NodeId> nodes;
};

/// By sampled_inference(). Exact over all nodes and ranks. Collective; blocks until done.
/// @param predictions  of the data set, on the device
/// @throws RankError{kDiverged} for logits that are not numbers, which no score may hide.
Score score_nodes(const ScoredNodes& scored, const ModelOnRanks& ranks, Predictions& predictions,
                  const InferenceOptions& options);

}  // namespace salient
