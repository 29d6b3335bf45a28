// engine/train/score.h - how good a model is on a set of nodes: by accuracy, by ROC AUC, or by F1.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/infer/sampled_inference.h"
#include "store/dataset.h"

namespace salient {

enum class Metric : std::uint8_t {
  kAccuracy,  ///< of nodes, or of known labels where a node has several
  kRocAuc,    ///< of two classes; of several labels the mean over those that have both, as in OGB
  kF1,        ///< micro-F1 of several labels, each predicted where its logit is above 0
};

/// "accuracy" | "rocauc" | "f1", as in --metric, in summaries and in run.json.
std::string name_of(Metric metric);

/// @param wanted  --metric: "auto" is rocauc for a data set of two classes or of several labels a node, else accuracy.
/// @throws Error{kUsage} for rocauc with another number of classes, and for f1 with one class a node; Error{kBadData}
///         where it is not defined: the validation or test nodes are all of one class, in every label.
Metric metric_for(const std::string& wanted, const Dataset& dataset);

struct Score {
  double value = 0;  ///< of the metric; 0 where no node is labelled
  double accuracy = 0;
  std::optional<double> rocauc{};  ///< if that is the metric
  std::optional<double> f1{};      ///< of several labels a node
  double seconds = 0;
};

/// Sampled inference over `nodes`, see there. Exact over all nodes and ranks. Collective; blocks until done.
/// @throws RankError{kDiverged} for logits that are not numbers, which no score may hide.
Score score_nodes(Metric metric, const Dataset& dataset, std::span<const NodeId> nodes, Model& model,
                  BatchLoader& loader, const InferenceOptions& options, const ComputeDevice& device,
                  Communicator& comm);

}  // namespace salient
