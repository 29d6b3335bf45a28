// engine/train/evaluation.cpp - see evaluation.h.
#include "engine/train/evaluation.h"

#include <algorithm>
#include <string>

#include "core/console/log.h"
#include "engine/infer/make_predictions.h"
#include "engine/report/confusion.h"
#include "engine/train/link_evaluation.h"
#include "engine/train/rank_state.h"
#include "engine/train/run_model.h"
#include "engine/train/typed_link_evaluation.h"

namespace salient {
namespace {

/// @return  the nodes, or none of them if no label of theirs is known
std::span<const NodeId> scored_nodes(const Dataset& dataset, std::span<const NodeId> nodes, const char* set) {
  const LabelTable labels = dataset.label_table();
  if (nodes.empty() || std::ranges::any_of(nodes, [&](NodeId node) { return labels.num_known(node) > 0; }))
    return nodes;
  log_warning("no " + std::string(set) + " node has a label: there is nothing to compare predictions with");
  return {};
}

std::unique_ptr<Predictions> make_predictions(const TrainOptions& options, const TrainingRun& run, const Model& model) {
  const BatchPlan& plan = run.plan.evaluation;
  if (run.plan.training.is_resident() && !plan.is_resident() && run.comm.rank() == 0)
    log_info("evaluation is eager: " + plan.why);
  const LoaderOptions loading = loader_options_of(options, evaluation_rule(options, run.dataset), run);
  return make_predictions(plan, {run.dataset, loading, run.device, run.comm, model});
}

}  // namespace

std::unique_ptr<Evaluation> make_evaluation(const TrainOptions& options, const TrainingRun& run,
                                            SignalAgreement& signals, const Model& model) {
  if (predicts_links(options) && run.dataset.types.is_typed())
    return std::make_unique<TypedLinkEvaluation>(options, run, signals, model);
  if (predicts_links(options)) return std::make_unique<LinkEvaluation>(options, run, signals, model);
  return std::make_unique<NodeEvaluation>(options, run, signals, model);
}

NodeEvaluation::NodeEvaluation(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
                               const Model& model)
    : run_(run),
      signals_(signals),
      batch_size_(static_cast<std::size_t>(options.evaluation.batch_size)),
      seed_(options.seed),
      metric_(metric_for(options.evaluation.metric, run.dataset)),
      valid_(scored_nodes(run.dataset, run.dataset.valid, "validation")),
      test_(scored_nodes(run.dataset, run.dataset.test, "test")),
      predictions_(valid_.empty() && test_.empty() ? nullptr : make_predictions(options, run, model)) {}

std::span<const NodeId> NodeEvaluation::nodes_of(EvaluationSet set) const {
  return set == EvaluationSet::kValid ? valid_ : test_;
}

Score NodeEvaluation::score(EvaluationSet set, Model& model, int epoch) {
  const InferenceOptions options{.batch_size = batch_size_, .seed = seed_, .label = name_of(set), .must_stop = [this] {
                                   return signals_.must_stop_after_round();
                                 }};
  const Score score =
      score_nodes({metric_, run_.dataset, nodes_of(set)}, {model, run_.device, run_.comm}, *predictions_, options);
  if (!score.confusion.empty() && !signals_.must_stop()) write_confusion_of(set, epoch, score);
  return score;
}

void NodeEvaluation::write_confusion_of(EvaluationSet set, int epoch, const Score& score) {
  const int num_classes = run_.dataset.num_classes;
  const ConfusionMatrix matrix{.set = name_of(set),
                               .epoch = epoch,
                               .num_classes = num_classes,
                               .class_names = run_.dataset.class_names,
                               .counts = score.confusion};
  on_rank_0(run_.comm, [&] { write_confusion(run_.directory, matrix); });
}

}  // namespace salient
