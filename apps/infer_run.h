// apps/infer_run.h - a run's model applied to nodes, on this rank: what it works with, and how it predicts.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "apps/asked_times.h"
#include "apps/infer_options.h"
#include "apps/new_node_table.h"
#include "apps/session.h"
#include "core/types.h"
#include "engine/infer/inference_round.h"
#include "engine/report/metric.h"
#include "engine/train/trained_run.h"
#include "loaders/batch_loader.h"
#include "store/dataset.h"

namespace salient {

struct InferRun {
  Session session;
  TrainOptions trained_with{};
  InferOptions options{};                      ///< what is not chosen is as in the run
  Dataset dataset{};                           ///< in the run's classes and columns
  std::vector<std::string> unknown_classes{};  ///< of dataset.num_classes + i: the run does not know them
  Numerics numerics{};                         ///< of the model on this machine
  TrainedModel trained{};
  std::vector<NodeId> nodes{};
  bool are_rows_of_others = false;    ///< on rank 0: as in SelectedNodes
  std::optional<AskedTimes> times{};  ///< with --time: what the data set's nodes are asked for at
  NewNodeTable added{};               ///< instead of nodes of the data set; then `nodes` are places in it
  Dataset of_added{};                 ///< its labels, none of which is known

  bool has_added() const { return added.nodes.num_nodes() > 0; }
  /// What is known of `nodes`.
  const Dataset& labelled() const { return has_added() ? of_added : dataset; }
};

/// Predicts all nodes, by sampled neighbours or exactly.
/// @param scratch  folder for the file in which exact inference may keep layers' results
/// Collective. @param on_round  see there
InferenceCounts predict(const InferRun& run, const std::filesystem::path& scratch, const OnRound& on_round);

/// How batches of neighbours that are sampled so are loaded, from host memory.
LoaderOptions sampled_loading(const InferRun& run, const SampledOptions& sampled);

/// Labelled nodes of classes that the run does not know. @param counts  those that count; null: all that are predicted
std::int64_t num_of_unknown_class(const InferRun& run, const std::function<bool(NodeId)>& counts = nullptr);

/// What the predictions of some nodes came to.
struct Scores {
  InferenceCounts counts{};
  Figures figures{};         ///< as NodeFigures::figures()
  std::int64_t unknown = 0;  ///< labelled nodes of classes that the run does not know

  bool has_accuracy() const { return counts.labelled > unknown; }
};

struct InferResult : Scores {
  std::vector<std::pair<std::string, Scores>> splits{};  ///< "test", ... where all nodes are predicted
};

/// inference.json: how the other files were made.
std::string report_of(const InferRun& run, const InferResult& result, const char* program);

/// The stable last lines.
void print_result(const InferResult& result, const Dataset& dataset, const std::filesystem::path& folder);

/// Of all that was predicted, in the order in which lines have it: nothing without a known label.
std::vector<std::pair<Metric, double>> figures_of(const Scores& scores, const Dataset& dataset);

}  // namespace salient
