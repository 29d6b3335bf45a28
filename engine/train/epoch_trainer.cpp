// engine/train/epoch_trainer.cpp - see epoch_trainer.h. A step never waits for the device; an epoch waits at its end.
#include "engine/train/epoch_trainer.h"

#include <cmath>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/timer.h"
#include "engine/comm/agreement.h"
#include "engine/device/rank_parts.h"
#include "engine/remote/partitioned_batches.h"
#include "engine/train/eager_steps.h"
#include "engine/train/epoch_metrics.h"
#include "engine/train/link_model.h"
#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"
#include "engine/train/typed_link_loss.h"
#include "store/largest_feature.h"
#include "store/link_negatives.h"

namespace salient {
namespace {

Schedule schedule_of(const OptimisationOptions& options, std::size_t steps_per_epoch) {
  const auto steps = static_cast<double>(steps_per_epoch);
  return {.kind = options.schedule,
          .lr = options.lr,
          .warmup_steps = std::llround(options.warmup * steps),
          .total_steps = static_cast<std::int64_t>(options.epochs) * static_cast<std::int64_t>(steps_per_epoch),
          .factor = options.plateau_factor,
          .patience = options.plateau_patience};
}

LossSpec loss_of(const TrainOptions& options, const Dataset& dataset) {
  return {.label_smoothing = options.optimisation.label_smoothing,
          .class_weights = options.class_weights,
          .regression = options.optimisation.loss.value_or(RegressionLoss::kMse),
          .target_scales = dataset.target_scales};
}

std::shared_ptr<Model> make_model_on(const ComputeDevice& device, const TrainOptions& options, const Dataset& dataset,
                                     const Numerics& numerics) {
  std::shared_ptr<Model> model = make_model_of_run(options, dataset, numerics);
  model->to(device.torch_device());
  return model;
}

/// Of links that have relations. @param given  which the loader borrows
BatchLoss typed_loss(const StepParts& parts, const GivenNegatives& given) {
  return [&objective = parts.objective, given,
          decoder = LinkDecoder(parts.model, parts.options.links.decoder, parts.options.model.hidden_dim),
          loss = TypedLinkLoss(parts.run.dataset.types, parts.options.links)](std::size_t step, const BatchView& batch,
                                                                              const at::Tensor& rows) {
    return objective.record(step, loss.sum(decoder, rows, batch.pairs));
  };
}

/// Batches of links: the encoder's rows of their ends are scored pair by pair.
std::unique_ptr<GradientSteps> make_link_steps(const StepParts& parts) {
  const TrainOptions& options = parts.options;
  const TrainingRun& run = parts.run;
  LoaderOptions loading = loader_options_of(options, training_rule(options, run.dataset), run);
  const GivenNegatives given = open_negatives(run.dataset, kTrainLinks);
  loading.links = LinkBatches{.ends = run.dataset.links[kTrainLinks].ends,
                              .rule = options.links.rule,
                              .times = run.dataset.links[kTrainLinks].times,
                              .given = {given.destinations, given.pairs, given.num_destinations},
                              .has_pair_features = options.links.has_pair_features,
                              .relations = run.dataset.links[kTrainLinks].relations};
  if (run.dataset.types.is_typed())
    return std::make_unique<EagerSteps>(parts, make_batches(run.dataset, loading, run.comm), typed_loss(parts, given));
  const auto loss = [&objective = parts.objective, links = options.links, given,  // which the loader borrows
                     decoder = LinkDecoder(parts.model, options.links.decoder, options.model.hidden_dim)](
                        std::size_t step, const BatchView& batch, const at::Tensor& rows) {
    const std::int64_t num_links = batch.pairs.size(0) / (1 + links.rule.negatives);
    return objective.record(step,
                            link_loss_sum(decoder.scores_with(rows, batch.pairs, batch.pair_x), num_links, links.loss));
  };
  return std::make_unique<EagerSteps>(parts, make_batches(run.dataset, loading, run.comm), loss);
}

std::unique_ptr<GradientSteps> make_steps(const StepParts& parts, std::unique_ptr<BatchSource> source) {
  const TrainOptions& options = parts.options;
  if (source) return std::make_unique<EagerSteps>(parts, std::move(source));
  const TrainingRun& run = parts.run;
  const BatchPlan& plan = run.plan.training;
  require_asked("resident steps", options.step, plan);
  const bool is_slow_bf16 = !plan.is_resident() && run.plan.precision() == Precision::kBf16;
  if (run.comm.rank() == 0 && run.device.is_cuda())
    log_info(to_text("training steps", plan) + (is_slow_bf16 ? "; tf32 is faster there than bf16" : ""));
  if (plan.is_resident()) return make_resident_steps(parts);
  if (predicts_links(options)) return make_link_steps(parts);
  return std::make_unique<EagerSteps>(
      parts, make_batches(run.dataset, loader_options_of(options, training_rule(options, run.dataset), run), run.comm));
}

}  // namespace

EpochTrainer::EpochTrainer(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
                           std::unique_ptr<BatchSource> source)
    : options_(options),
      run_(run),
      signals_(signals),
      parts_(parts_to_deal_by(options.batches.deal, run.dataset, run.comm)),
      seeds_(run.dataset, options.seed, global_batch_of(options, run.comm.size()), run.comm.rank(), run.comm.size(),
             parts_, predicts_links(options) ? terms_of_link(options.links, run.dataset.types.is_typed()) : 0),
      schedule_(schedule_of(options.optimisation, seeds_.num_steps())),
      model_(make_model_on(run.device, options, run.dataset, run.plan.training.spec.numerics)),
      optimizer_(*model_, {.lr = options.optimisation.lr, .weight_decay = options.optimisation.weight_decay}),
      clock_(run.device),
      objective_(loss_of(options, run.dataset), seeds_.num_steps(), run.device.torch_device()),
      steps_(make_steps({options, run, seeds_, *model_, optimizer_, objective_, clock_}, std::move(source))) {
  seeds_.weigh_by(options.class_weights);
}

/// The schedule's rate of step `step` of the epoch. It counts all epochs in steps of this run's size: those before a
/// resume may have had others, so global_step is no position in the run.
double EpochTrainer::rate_of(std::size_t step, const TrainProgress& progress) const {
  const auto steps_before = static_cast<std::int64_t>(progress.epoch) * static_cast<std::int64_t>(seeds_.num_steps());
  return schedule_.rate(steps_before + static_cast<std::int64_t>(step), progress.plateau);
}

/// Gradient exchange and update. Enqueues and returns.
void EpochTrainer::update(double rate) {
  if (run_.comm.size() > 1) {
    clock_.exchange_begins();
    optimizer_.sum_over_ranks(run_.comm, run_.device.stream());
    clock_.exchange_ends();
  }
  optimizer_.set_lr(rate);
  optimizer_.step();
}

/// Adds the steps up to `end_step` that are not in the running sums yet, over all ranks. Waits for the device.
void EpochTrainer::collect(std::size_t end_step, TrainProgress& progress) {
  auto step = static_cast<std::size_t>(progress.step_in_epoch);
  const auto inputs = [this] { return largest_feature_text(run_.dataset); };
  for (const Objective::StepSums& sums : objective_.collect(run_.comm, progress.epoch + 1, step, end_step, inputs)) {
    progress.partial_loss_sum += sums.loss;
    progress.partial_correct += sums.correct;
    progress.partial_labels += seeds_.num_labels(step++);
  }
  progress.step_in_epoch = static_cast<std::int64_t>(end_step);
}

/// For the bar: the mean of the steps since `first_step`, of this rank's share, which stands for all. May be empty.
std::string EpochTrainer::loss_so_far(std::size_t first_step, std::size_t end_step) {
  const Objective::Told told = objective_.glance(first_step, end_step);
  const double divisor = seeds_.loss_divisor_before(first_step + told.steps) - seeds_.loss_divisor_before(first_step);
  return divisor > 0 ? printed("loss %.3g", told.loss * run_.comm.size() / divisor) : std::string();
}

/// @return  steps of the epoch that are done, the earlier ones counted
std::size_t EpochTrainer::train_steps(TrainProgress& progress, const std::function<void()>& save) {
  const auto first_step = static_cast<std::size_t>(progress.step_in_epoch);
  const int epoch = progress.epoch + 1;
  const int epochs = options_.optimisation.epochs;
  std::size_t done = first_step;
  Progress bar("epoch " + std::to_string(epoch) + "/" + std::to_string(epochs), seeds_.num_steps() - first_step,
               "batches", seeds_.num_steps() * static_cast<std::size_t>(std::max(0, epochs - epoch)),
               [&] { return loss_so_far(first_step, done); });
  std::vector<double> rates;
  for (std::size_t step = first_step; step < seeds_.num_steps(); ++step) rates.push_back(rate_of(step, progress));
  steps_->start(seeds_.start(epoch, first_step), rates);
  clock_.start_epoch();
  while (const std::size_t count = steps_->next(static_cast<std::uint32_t>(progress.global_step))) {
    if (!steps_->has_updates()) update(rates[done - first_step]);
    clock_.step_done(count);
    done += count;
    progress.global_step += static_cast<std::int64_t>(count);
    bar.add(count);
    const SignalAgreement::Wishes wishes = signals_.after_step();
    if (wishes.stop) {
      steps_->stop();
      break;
    }
    if (wishes.checkpoint) {
      collect(done, progress);
      save();
      clock_.pause_ends();
    }
  }
  // the device has steps before it that take longer than a shuffle
  if (done == seeds_.num_steps() && epoch < options_.optimisation.epochs) seeds_.prepare(epoch + 1);
  return done;
}

EpochMetrics EpochTrainer::train(TrainProgress& progress, const std::function<void()>& save) {
  const Timer timer;
  objective_.start_epoch();
  model_->train();
  const std::int64_t steps_before = progress.step_in_epoch;
  const std::size_t done = train_steps(progress, save);
  const StepClock::Totals times = clock_.totals();
  const double seconds = timer.seconds();
  collect(done, progress);
  return epoch_metrics({.epoch = progress.epoch + 1,
                        .progress = progress,
                        .loss_divisor = seeds_.loss_divisor_before(done),
                        .has_accuracy = run_.dataset.task != Task::kRegression && !predicts_links(options_),
                        // of the step before, also if no step was left after a resume
                        .lr = rate_of(done - 1, progress),
                        .steps_before = steps_before,
                        .seconds = seconds,
                        .times = times,
                        .loader = steps_->stats()},
                       run_.device, run_.comm);
}

}  // namespace salient
