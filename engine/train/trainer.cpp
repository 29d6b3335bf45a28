// engine/train/trainer.cpp - the story of a run: epochs, validations, checkpoints, the final test.
#include "engine/train/trainer.h"

#include <oneapi/tbb/task_arena.h>

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "engine/plan/graph_types_of.h"
#include "engine/report/report_page.h"
#include "engine/train/checkpoint.h"
#include "engine/train/class_weights.h"
#include "engine/train/epoch_trainer.h"
#include "engine/train/evaluation.h"
#include "engine/train/rank_state.h"
#include "engine/train/run_model.h"
#include "engine/train/signal_agreement.h"
#include "engine/train/typed_link_loss.h"
#include "store/link_negatives.h"

namespace salient {

struct Trainer::Impl {
  Impl(const TrainOptions& train_options, TrainingRun training_run, std::unique_ptr<BatchSource> source)
      : options(train_options),
        run(std::move(training_run)),
        comm(run.comm),
        signals(comm, /*steps_between=*/run.device.is_cuda() && comm.size() > 1 ? 8 : 1),
        trainer(options, run, signals, std::move(source)),
        evaluation(make_evaluation(options, run, signals, trainer.model())),
        report(run.directory) {}

  CheckpointIdentity identity() const { return checkpoint_identity(options, run.dataset, comm.size()); }
  std::filesystem::path checkpoints() const { return run.directory / "checkpoints"; }
  void share_weights() { take_weights_of_rank_0(comm, run.device, trainer.model(), trainer.optimizer()); }

  TrainResult train() {
    resume();
    share_weights();
    on_rank_0(comm, [&] { files.emplace(run.directory, progress.epoch + 1); });
    TrainResult result;
    while (progress.epoch < options.optimisation.epochs && !is_out_of_patience()) {
      if (!run_epoch(result.last_epoch)) {
        save();
        result.interrupted_by = signals.signal();
        return result;
      }
      result.epochs.push_back(result.last_epoch);
      on_rank_0(comm, [&] {
        log_info(summary_line(result.last_epoch, evaluation->metric()));
        if (const std::string rows = rows_line(result.last_epoch); !rows.empty()) log_info(rows);
        log_debug(detail_line(result.last_epoch));
        report.refresh_if_due();
      });
    }
    if (is_out_of_patience() && progress.epoch < options.optimisation.epochs)
      log_info("ended after epoch " + std::to_string(progress.epoch) + ": no better validation result for " +
               std::to_string(options.evaluation.patience) + " epochs");
    conclude(result);
    return result;
  }

  void resume() {
    if (options.output.resume.empty()) return;
    on_rank_0(comm, [&] {
      if (!has_checkpoint(checkpoints()))
        return log_warning(run.directory.string() + ": ended before its first checkpoint; the run begins anew");
      progress =
          read_latest_checkpoint(checkpoints(), trainer.model(), trainer.optimizer(), identity(), options.output.keep);
      log_info("resuming after epoch " + std::to_string(progress.epoch) + ", step " +
               std::to_string(progress.step_in_epoch));
    });
    take_state_of_rank_0(comm, run.device, trainer.model(), trainer.optimizer(), progress);
    if (progress.epoch >= options.optimisation.epochs)
      log_info("no epoch is left to train: the run is to have " + std::to_string(options.optimisation.epochs));
  }

  /// One epoch, its validation and its checkpoint.
  /// @return false when a signal ended it; `progress` is then inside the epoch.
  bool run_epoch(EpochMetrics& metrics) {
    const int epoch = progress.epoch + 1;
    const bool is_last = epoch == options.optimisation.epochs;
    metrics = trainer.train(progress, [this] { save(); });
    if (signals.must_stop()) return false;
    std::optional<Score> valid;
    if (evaluation->has(EvaluationSet::kValid) && (is_last || epoch % options.evaluation.every == 0)) {
      valid = validate(epoch, metrics);
      if (signals.must_stop()) return false;
    }
    const bool is_best =
        valid && (progress.best_epoch == 0 || is_better(evaluation->metric(), valid->value, progress.best_valid));
    progress = {.epoch = epoch,
                .global_step = progress.global_step,
                .best_epoch = is_best ? epoch : progress.best_epoch,
                .best_valid = is_best ? valid->value : progress.best_valid,
                .best_figures = is_best ? valid->figures : progress.best_figures,
                .plateau = plateau_after(metrics, valid)};
    // Before the checkpoint: a resumed run removes rows, it cannot add them.
    on_rank_0(comm, [&] { files->append(metrics); });
    const bool is_due = options.output.checkpoint_every > 0 && epoch % options.output.checkpoint_every == 0;
    if (is_last || is_best || is_due || is_out_of_patience()) save();
    return true;
  }

  Score validate(int epoch, EpochMetrics& metrics) {
    share_weights();
    const Score valid = evaluation->score(EvaluationSet::kValid, trainer.model(), epoch);
    metrics.valid = valid.figures;
    metrics.eval_seconds = valid.seconds;
    return valid;
  }

  /// Only after a validation that brought nothing better: validations may be further apart than the patience.
  bool is_out_of_patience() const {
    const EvaluationOptions& rules = options.evaluation;
    return rules.patience > 0 && progress.best_epoch > 0 && progress.epoch % rules.every == 0 &&
           progress.epoch - progress.best_epoch >= rules.patience;
  }

  /// The plateau schedule after the epoch: by the validation metric, or by the training loss without validation nodes.
  PlateauState plateau_after(const EpochMetrics& metrics, const std::optional<Score>& valid) const {
    const Schedule& schedule = trainer.schedule();
    if (valid) {
      const bool is_higher = is_better(evaluation->metric(), /*value=*/1, /*than=*/0);
      return schedule.after_epoch(progress.plateau, valid->value,
                                  is_higher ? Schedule::Better::kHigher : Schedule::Better::kLower);
    }
    if (evaluation->has(EvaluationSet::kValid)) return progress.plateau;  // not validated in this epoch
    return schedule.after_epoch(progress.plateau, *metrics.loss, Schedule::Better::kLower);
  }

  void save() {
    require_equal_parameters(comm, trainer.optimizer(), "after step " + std::to_string(progress.global_step));
    on_rank_0(comm, [&] {
      write_checkpoint(checkpoints(), trainer.model(), trainer.optimizer(), progress, identity(), options.output.keep);
    });
  }

  /// The best epoch's results, and the test of its model.
  void conclude(TrainResult& result) {
    result.metric = evaluation->metric();
    result.best_epoch = progress.best_epoch;
    if (progress.best_epoch > 0) result.valid = progress.best_valid;
    result.valid_figures = progress.best_figures;
    if (evaluation->has(EvaluationSet::kTest)) {
      on_rank_0(comm, [&] { load_best_weights(checkpoints(), trainer.model()); });
      share_weights();
      const Score test = evaluation->score(EvaluationSet::kTest, trainer.model(), progress.best_epoch);
      result.test = test.value;
      result.test_figures = test.figures;
    }
    if (signals.must_stop()) result.interrupted_by = signals.signal();
  }

  const TrainOptions options;
  const TrainingRun run;
  Communicator& comm;
  SignalAgreement signals;
  EpochTrainer trainer;
  const std::unique_ptr<Evaluation> evaluation;
  std::optional<MetricsFiles> files;  // of rank 0
  LiveReport report;
  TrainProgress progress{};
};

namespace {

/// Options of one task are refused for a data set of another one.
void require_task(const TrainOptions& options, const Dataset& dataset) {
  const std::string has = dataset.name + " has " + words_of(dataset.task).of_node;
  const bool has_values = dataset.task == Task::kRegression;
  if (options.task && name_of(*options.task) != name_of(dataset.task))
    fail(ErrorKind::kUsage, "the task is to be " + name_of(*options.task) + ", and " + has +
                                (*options.task == RunTask::kRegression ? "; prepare it with targets" : ""));
  if (options.links != LinkTrainOptions{})
    fail(ErrorKind::kUsage, "decoders, negatives and what else is of links go with the task link");
  if (options.optimisation.loss && !has_values)
    fail(ErrorKind::kUsage, "loss " + name_of(*options.optimisation.loss) + " is of regression, and " + has);
  if (has_values && options.optimisation.label_smoothing > 0)
    fail(ErrorKind::kUsage, "label smoothing is for classes and labels, and " + has);
  if (options.optimisation.class_weights != kNoClassWeights && dataset.task != Task::kMultiClass)
    fail(ErrorKind::kUsage, "class weights are for one class a node, and " + has);
}

/// By a rule of times, and by none but `lt`, links are asked for that have times.
void require_times_of_links(const TrainOptions& options, const Dataset& dataset) {
  const auto refuse = [&](const std::string& why) { fail(ErrorKind::kUsage, dataset.name + ": " + why); };
  const std::optional<TimeRule> rule = options.batches.time.rule();
  if (!dataset.has_link_times) {
    if (rule)
      refuse("its links have no times, before which neighbours could be drawn; a split by time gives them some");
    if (options.links.has_pair_features) refuse("its links have no times, and features of pairs are of links that do");
    return;
  }
  if (!rule || rule->order != TimeOrder::kBefore)
    refuse("a link is predicted from what was before it: the rule of times is lt, and its graph has later links, too");
  const LinkRule& links = options.links.rule;
  if (links.sampler == NegativeSampler::kDegree)
    refuse("negatives by degree count links that are later than a batch's");
  if (links.is_strict) refuse("strict negatives know links that are later than a batch's");
  if (options.machine.features == Residency::kPartitioned)
    refuse("links with times are not predicted with partitioned features yet");
  for (const std::size_t split : {kValidLinks, kTestLinks})
    if (open_negatives(dataset, split).num_pairs() > 0)
      refuse("its negatives are pairs of all links, and such pairs have no times; those of each link have");
}

/// The same of links that have relations.
void require_typed_links(const TrainOptions& options, const Dataset& dataset) {
  const auto refuse = [](const std::string& why) { fail(ErrorKind::kUsage, why); };
  const LinkRule& rule = options.links.rule;
  const bool is_even = rule.negatives % 2 == 0;
  if (asks_heads(options.links) && !is_even)
    refuse(std::to_string(rule.negatives) +
           " negatives of a link that both ends are replaced of: an even number, half of "
           "them for each end");
  if (options.links.eval_negatives > kMaxNegatives / 2)
    refuse(std::to_string(options.links.eval_negatives) + " negatives of each end in evaluation, at most " +
           std::to_string(kMaxNegatives / 2));
  if (rule.sampler == NegativeSampler::kGiven)
    refuse(dataset.name + ": negative sampler 'given' is of links without relations");
  if (options.links.test_messages != TestMessages::kTrain)
    refuse(dataset.name + ": validation links are messages of the test in graphs without relations alone");
  std::set<std::pair<int, int>> ends;
  for (const std::uint16_t r : dataset.links[kTrainLinks].relations)
    ends.emplace(dataset.types.relations[r].src, dataset.types.relations[r].dst);
  if (rule.sampler == NegativeSampler::kInBatch && ends.size() > 1)
    refuse(dataset.name +
           ": negative sampler 'in-batch' takes ends of other links, which here are of several node types");
  const SlotTable& slots = *dataset.slots;
  for (const auto& [src, dst] : ends)
    for (const int type : {src, dst})
      if (options.model.kind == ModelKind::kRsage && slots.num_slots[static_cast<std::size_t>(type)] == 0)
        refuse(dataset.name + ": no relation leads to nodes of type '" +
               dataset.types.node_types[static_cast<std::size_t>(type)].name +
               "', of which rsage has no rows; with reverse relations it has");
}

/// The same of links.
void require_links(const TrainOptions& options, const Dataset& dataset) {
  const auto refuse = [](const std::string& why) { fail(ErrorKind::kUsage, why); };
  if (!dataset.has_links) refuse(dataset.name + " has no links to be predicted; a split of its edges makes some");
  if (dataset.links[kTrainLinks].size() == 0) refuse(dataset.name + ": has no training links");
  if (dataset.num_nodes() < 2) refuse(dataset.name + ": negatives of one node");
  const OptimisationOptions& optimisation = options.optimisation;
  if (optimisation.loss || optimisation.label_smoothing > 0 || optimisation.class_weights != kNoClassWeights)
    refuse("losses of regression, label smoothing and class weights are of labels, and links are to be predicted");
  require_times_of_links(options, dataset);
  if (options.batches.deal != DealKind::kEven) refuse("links are dealt to ranks evenly, not by owner");
  if (options.model.hidden_dim % node_halves(options.links.decoder) != 0)
    refuse("a hidden width of " + std::to_string(options.model.hidden_dim) + ": rows of decoder " +
           name_of(options.links.decoder) + " have two halves");
  if (options.links.rule.sampler == NegativeSampler::kGiven) {
    const GivenNegatives given = open_negatives(dataset, kTrainLinks);
    if (given.num_destinations == 0 && given.pairs.empty())
      refuse(dataset.name +
             ": comes with no negatives of its training links, which the negative sampler 'given' draws");
  }
  const bool has_entry_values = dataset.has_edge_weights || dataset.has_edge_times || dataset.edge_feature_dim > 0;
  if (options.links.test_messages != TestMessages::kTrain && has_entry_values)
    refuse(dataset.name + ": its edges have weights, times or features, which validation links as messages have not");
  if (dataset.types.is_typed()) require_typed_links(options, dataset);
  if (options.evaluation.patience > 0 && dataset.links[kValidLinks].size() == 0)
    refuse(dataset.name + ": has no validation links, so a run cannot end by its patience");
}

/// What is of draws by time alone. The rule may follow from the data set, so the command line cannot tell.
void require_time_rule(const TrainOptions& options, const Dataset& dataset) {
  const TimeOptions& time = options.batches.time;
  if (time.rule()) return;
  if (options.model.time_encoding > 0)
    fail(ErrorKind::kUsage, dataset.name +
                                ": a time encoding is of how long before its seed an edge was, and neighbours "
                                "are not drawn by time");
  if (time.window != TimeWindow{} || time.strategy != TimeStrategy::kUniform)
    fail(ErrorKind::kUsage, "a window and a strategy of time are of a rule of times, lt or le, and there is none");
}

}  // namespace

void require_trainable(const TrainOptions& options, const Dataset& dataset) {
  require_model_of_graph(options.model, dataset);
  (void)training_rule(options, dataset);
  require_time_rule(options, dataset);
  if (dataset.feature_dim == 0 && !dataset.types.is_typed())  // types without features have rows that are learned
    fail(ErrorKind::kUsage, dataset.name + ": has no features to train on", Topic::kMissingFeatures);
  if (predicts_links(options)) {
    require_links(options, dataset);
    return void(metric_of_run(options, dataset));
  }
  if (dataset.num_classes == 0) fail(ErrorKind::kUsage, dataset.name + ": has no labels to train on");
  if (dataset.train.empty()) fail(ErrorKind::kUsage, dataset.name + ": has no training nodes");
  require_task(options, dataset);
  (void)metric_of_run(options, dataset);
  if (options.evaluation.patience > 0 && dataset.valid.empty())
    fail(ErrorKind::kUsage, dataset.name + ": has no validation nodes, so a run cannot end by its patience");
}

Trainer::Trainer(const TrainOptions& options, TrainingRun run, std::unique_ptr<BatchSource> source) {
  require_trainable(options, run.dataset);
  impl_ = std::make_unique<Impl>(options, std::move(run), std::move(source));
}

Trainer::~Trainer() = default;

std::size_t Trainer::num_gradients() const { return impl_->trainer.optimizer().gradients().size(); }

TrainResult Trainer::run() {
  try {
    // The parallel loops of CPU models keep to this many threads: the other cores are for the workers and other ranks.
    oneapi::tbb::task_arena compute(impl_->options.machine.threads);
    return compute.execute([&] { return impl_->train(); });
  } catch (...) {
    impl_->comm.cancel();  // what is cleaned up on the way out must not wait for the other ranks
    throw;
  }
}

}  // namespace salient
