// engine/train/score.cpp - see score.h.
#include "engine/train/score.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/infer/node_scores.h"
#include "engine/infer/roc_auc.h"

namespace salient {
namespace {

/// Refuses sets with known labels of which none has both values.
void require_both_classes(const Dataset& dataset, std::span<const NodeId> nodes, const char* which) {
  const std::vector<std::int8_t> labels = binary_labels(dataset, nodes);
  bool is_any_known = false;
  for (std::size_t t = 0; t < num_binary_labels(dataset); ++t) {
    const auto column = std::span(labels).subspan(t * nodes.size(), nodes.size());
    const bool has_zeros = std::ranges::count(column, 0) > 0, has_ones = std::ranges::count(column, 1) > 0;
    if (has_zeros && has_ones) return;
    is_any_known = is_any_known || has_zeros || has_ones;
  }
  if (is_any_known)
    fail(ErrorKind::kBadData,
         dataset.name + ": its " + which + " nodes are all of one class" +
             (dataset.task == Task::kMultiClass ? "" : " in every label") + ", so ROC AUC is not defined",
         Topic::kRocAuc);
}

/// Larger = more likely: of two classes how far the second is ahead, of several labels their logits. [S, T]
at::Tensor scores_of(const Dataset& dataset, const at::Tensor& logits) {
  return dataset.task == Task::kMultiClass ? logits.narrow(1, 1, 1) - logits.narrow(1, 0, 1) : logits;
}

/// @param scores  [n, T] on the device, each row of one rank, 0 on the others
double roc_auc_over_ranks(const Dataset& dataset, std::span<const NodeId> nodes, const at::Tensor& scores,
                          Communicator& comm) {
  const at::Tensor columns = scores.t().contiguous().cpu();
  const std::span<float> values(columns.mutable_data_ptr<float>(), static_cast<std::size_t>(columns.numel()));
  std::vector<double> sums(nodes.size());
  for (std::size_t t = 0; t < num_binary_labels(dataset); ++t) {
    const std::span<float> column = values.subspan(t * nodes.size(), nodes.size());
    sums.assign(column.begin(), column.end());
    comm.all_reduce_sum(std::span<double>(sums));
    std::ranges::transform(sums, column.begin(), [](double sum) { return static_cast<float>(sum); });
  }
  return mean_roc_auc(values, binary_labels(dataset, nodes), num_binary_labels(dataset)).value_or(0);
}

}  // namespace

Metric metric_for(std::optional<Metric> wanted, const Dataset& dataset) {
  const bool has_labels = dataset.task == Task::kMultiLabel;
  if (wanted == Metric::kF1 && !has_labels)
    fail(ErrorKind::kUsage, "F1 is a metric for several labels a node, " + dataset.name + " has one class a node",
         Topic::kRocAuc);
  if (wanted == Metric::kF1) return Metric::kF1;
  if (wanted == Metric::kAccuracy || (!wanted && !has_roc_auc(dataset))) return Metric::kAccuracy;
  if (!has_roc_auc(dataset))
    fail(ErrorKind::kUsage,
         "ROC AUC is a metric for two classes or several labels a node, " + dataset.name + " has " +
             std::to_string(dataset.num_classes) + " classes",
         Topic::kRocAuc);
  require_both_classes(dataset, dataset.valid, "validation");
  require_both_classes(dataset, dataset.test, "test");
  return Metric::kRocAuc;
}

Score score_nodes(const ScoredNodes& scored, const ModelOnRanks& ranks, Predictions& predictions,
                  const InferenceOptions& options) {
  const auto& [metric, dataset, nodes] = scored;
  Communicator& comm = ranks.comm;
  at::Tensor scores;  // [n, T] for ROC AUC
  OnRound keep;
  if (metric == Metric::kRocAuc) {
    scores = at::zeros({static_cast<std::int64_t>(nodes.size()), dataset.label_type().width},
                       at::TensorOptions(ranks.device.torch_device()).dtype(at::kFloat));
    keep = [&scores, &dataset = dataset, &options, &comm,
            batch = static_cast<std::size_t>(comm.rank())](const InferenceRound& round) mutable {
      const std::size_t first =
          std::exchange(batch, batch + static_cast<std::size_t>(comm.size())) * options.batch_size;
      if (round.num_nodes == 0) return;
      scores.narrow(0, static_cast<std::int64_t>(first), round.num_nodes).copy_(scores_of(dataset, round.logits));
    };
  }
  const InferenceCounts counts = sampled_inference(ranks, predictions, nodes, options, keep);
  if (counts.not_finite > 0)
    fail_on_all_ranks(comm, ErrorKind::kDiverged,
                      "the predictions of " + std::to_string(counts.not_finite) + " of " +
                          std::to_string(counts.nodes) + " " + options.label +
                          " nodes are not numbers: weights, or features that they see, are not finite");
  Score score{.accuracy = counts.accuracy(), .seconds = counts.seconds};
  if (dataset.task == Task::kMultiLabel) score.f1 = counts.f1();
  if (metric == Metric::kRocAuc) score.rocauc = roc_auc_over_ranks(dataset, nodes, scores, comm);
  score.value = metric == Metric::kRocAuc ? *score.rocauc : metric == Metric::kF1 ? *score.f1 : score.accuracy;
  return score;
}

}  // namespace salient
