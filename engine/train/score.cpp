// engine/train/score.cpp - see score.h.
#include "engine/train/score.h"

#include <ATen/ops/zeros.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "engine/infer/average_precision.h"
#include "engine/infer/confusion_counter.h"
#include "engine/infer/node_scores.h"
#include "engine/infer/roc_auc.h"
#include "engine/infer/value_counter.h"

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
void add_ranked_figures(const Dataset& dataset, std::span<const NodeId> nodes, const at::Tensor& scores,
                        Communicator& comm, Figures& figures) {
  const at::Tensor columns = scores.t().contiguous().cpu();
  const std::span<float> values(columns.mutable_data_ptr<float>(), static_cast<std::size_t>(columns.numel()));
  std::vector<double> sums(nodes.size());
  for (std::size_t t = 0; t < num_binary_labels(dataset); ++t) {
    const std::span<float> column = values.subspan(t * nodes.size(), nodes.size());
    sums.assign(column.begin(), column.end());
    comm.all_reduce_sum(std::span<double>(sums));
    std::ranges::transform(sums, column.begin(), [](double sum) { return static_cast<float>(sum); });
  }
  const std::vector<std::int8_t> labels = binary_labels(dataset, nodes);
  figures[Metric::kRocAuc] = mean_roc_auc(values, labels, num_binary_labels(dataset)).value_or(0);
  figures[Metric::kAveragePrecision] = mean_average_precision(values, labels, num_binary_labels(dataset)).value_or(0);
}

bool needs_scores(Metric metric) { return metric == Metric::kRocAuc || metric == Metric::kAveragePrecision; }

[[noreturn]] void refuse_metric(Metric metric, const Dataset& dataset) {
  const auto fail_with = [&](const std::string& what) { fail(ErrorKind::kUsage, what, Topic::kRocAuc); };
  if (metric == Metric::kF1 && dataset.task == Task::kMultiClass)
    fail_with("F1 is a metric for several labels a node, " + dataset.name +
              " has one class a node; macro_f1 is of classes");
  if (needs_scores(metric) && dataset.task == Task::kMultiClass)
    fail_with(std::string(metric == Metric::kRocAuc ? "ROC AUC" : "average precision") +
              " is a metric for two classes or several labels a node, " + dataset.name + " has " +
              std::to_string(dataset.num_classes) + " classes");
  fail(ErrorKind::kUsage,
       name_of(metric) + " is no metric of " + dataset.name + ", which has " + words_of(dataset.task).of_node,
       dataset.task == Task::kRegression ? Topic::kNone : Topic::kRocAuc);
}

Metric default_metric(const Dataset& dataset) {
  if (dataset.task == Task::kRegression) return Metric::kR2;
  return has_roc_auc(dataset) ? Metric::kRocAuc : Metric::kAccuracy;
}

/// What is counted on the device, by task.
class Tallies {
 public:
  Tallies(const Dataset& dataset, at::Device device) {
    switch (dataset.task) {
      case Task::kMultiClass: classes_.emplace(dataset.num_classes, device); break;
      case Task::kMultiLabel: break;
      case Task::kRegression: values_.emplace(dataset.target_scales, device); break;
    }
  }
  PredictionTally* get() {
    if (classes_) return &*classes_;
    return values_ ? &*values_ : nullptr;
  }

  /// Collective.
  void add_to(Score& score, const InferenceCounts& counts, Communicator& comm) const {
    if (values_) return add_value_figures(values_->sum_over_ranks(comm), score.figures);
    score.figures[Metric::kAccuracy] = counts.accuracy();
    if (!classes_) return void(score.figures[Metric::kF1] = counts.f1());
    ConfusionCounter::Sums sums = classes_->sum_over_ranks(comm);
    add_class_figures(sums.tally, score.figures);
    score.confusion = std::move(sums.matrix);
  }

 private:
  std::optional<ConfusionCounter> classes_;
  std::optional<ValueCounter> values_;
};

}  // namespace

bool has_metric(Metric metric, const Dataset& dataset) {
  const Task task = dataset.task;
  switch (metric) {
    case Metric::kAccuracy: return task != Task::kRegression;
    case Metric::kRocAuc:
    case Metric::kAveragePrecision: return has_roc_auc(dataset);
    case Metric::kF1: return task == Task::kMultiLabel;
    case Metric::kMacroF1:
    case Metric::kBalancedAccuracy:
    case Metric::kMcc: return task == Task::kMultiClass;
    case Metric::kRmse:
    case Metric::kMae:
    case Metric::kR2: return task == Task::kRegression;
    case Metric::kMrr:
    case Metric::kHitsAt1:
    case Metric::kHitsAt3:
    case Metric::kHitsAt10:
    case Metric::kHitsAt20:
    case Metric::kHitsAt50:
    case Metric::kHitsAt100: return false;  // of links, which have a trainer of their own
  }
  return false;
}

Metric metric_for(std::optional<Metric> wanted, const Dataset& dataset) {
  const Metric metric = wanted.value_or(default_metric(dataset));
  if (!has_metric(metric, dataset)) refuse_metric(metric, dataset);
  if (!needs_scores(metric)) return metric;
  require_both_classes(dataset, dataset.valid, "validation");
  require_both_classes(dataset, dataset.test, "test");
  return metric;
}

Score score_nodes(const ScoredNodes& scored, const ModelOnRanks& ranks, Predictions& predictions,
                  const InferenceOptions& options) {
  const auto& [metric, dataset, nodes] = scored;
  Communicator& comm = ranks.comm;
  at::Tensor scores;  // [n, T] for ROC AUC
  OnRound keep;
  if (needs_scores(metric)) {
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
  Tallies tallies(dataset, ranks.device.torch_device());
  InferenceOptions counted = options;
  counted.tally = tallies.get();
  counted.unit = TargetUnit(dataset, ranks.device.torch_device());
  const InferenceCounts counts = sampled_inference(ranks, predictions, nodes, counted, keep);
  if (counts.not_finite > 0)
    fail_on_all_ranks(comm, ErrorKind::kDiverged,
                      "the predictions of " + std::to_string(counts.not_finite) + " of " +
                          std::to_string(counts.nodes) + " " + options.label +
                          " nodes are not numbers: weights, or features that they see, are not finite");
  Score score{.seconds = counts.seconds};
  tallies.add_to(score, counts, comm);
  if (needs_scores(metric)) add_ranked_figures(dataset, nodes, scores, comm, score.figures);
  score.value = score.figures[metric].value_or(0);
  return score;
}

}  // namespace salient
