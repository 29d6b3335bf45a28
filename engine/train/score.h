// engine/train/score.h - how good a model is on a set of nodes, by the figures that its task has.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/infer/sampled_inference.h"
#include "engine/report/metric.h"
#include "store/dataset.h"

namespace salient {

/// Whether predictions of the data set's task have it: accuracy, ROC AUC and average precision of two classes and of
/// labels; micro-F1 of labels; macro-F1, balanced accuracy, MCC of classes; RMSE, MAE, R2 of values.
bool has_metric(Metric metric, const Dataset& dataset);

/// @param wanted  none: ROC AUC for a data set of two classes or of several labels a node, R2 of values, else accuracy.
/// @throws Error{kUsage} for one that the data set does not have; Error{kBadData} where ROC AUC or average precision is
///         not defined: the validation or test nodes are all of one class, in every label.
Metric metric_for(std::optional<Metric> wanted, const Dataset& dataset);

struct Score {
  double value = 0;                       ///< of the metric; 0 where no node is labelled
  Figures figures{};                      ///< all of the task; ROC AUC and average precision if one is the metric
  std::vector<std::int64_t> confusion{};  ///< [C, C] of up to kMaxConfusionClasses classes: true, then predicted
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
