// engine/train/epoch_trainer.h - one epoch of training steps: forward, backward, exchange of gradients, update.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "engine/device/step_clock.h"
#include "engine/report/metrics.h"
#include "engine/train/checkpoint.h"
#include "engine/train/epoch_seeds.h"
#include "engine/train/flat_adam.h"
#include "engine/train/gradient_steps.h"
#include "engine/train/objective.h"
#include "engine/train/schedule.h"
#include "engine/train/signal_agreement.h"
#include "engine/train/train_options.h"
#include "engine/train/training_run.h"
#include "loaders/batch_source.h"
#include "models/model.h"

namespace salient {

/// The model and what moves its parameters. Everything is kept from epoch to epoch.
class EpochTrainer {
 public:
  /// @param source  of training batches, for eager steps; null = the product's own loader, or resident steps without
  ///                one
  /// @throws Error{kUsage} if resident steps were asked for and something prevents them
  /// All references outlive this.
  EpochTrainer(const TrainOptions& options, const TrainingRun& run, SignalAgreement& signals,
               std::unique_ptr<BatchSource> source);

  Model& model() { return *model_; }
  FlatAdam& optimizer() { return optimizer_; }
  const Schedule& schedule() const { return schedule_; }

  /// Trains the steps of epoch progress.epoch + 1 that are left, or fewer if a signal asks to stop. `progress` has the
  /// sums of all its steps afterwards. The host waits for the device once, at the end. Collective.
  ///
  /// @param save  writes a checkpoint of `progress` when a signal asks for one
  /// @throws RankError{kDiverged}; whatever a worker threw.
  EpochMetrics train(TrainProgress& progress, const std::function<void()>& save);

 private:
  double rate_of(std::size_t step, const TrainProgress& progress) const;
  void update(double rate);
  void collect(std::size_t end_step, TrainProgress& progress);
  std::string loss_so_far(std::size_t first_step, std::size_t end_step);
  std::size_t train_steps(TrainProgress& progress, const std::function<void()>& save);

  const TrainOptions& options_;
  const TrainingRun& run_;
  SignalAgreement& signals_;
  const Parts parts_;  // none: seeds are dealt evenly
  EpochSeeds seeds_;
  const Schedule schedule_;
  const std::shared_ptr<Model> model_;
  FlatAdam optimizer_;
  StepClock clock_;
  Objective objective_;
  const std::unique_ptr<GradientSteps> steps_;
};

}  // namespace salient
