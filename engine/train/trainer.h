// engine/train/trainer.h - the training loop: epochs of steps, validation, checkpoints, the final test.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/report/metrics.h"
#include "engine/train/train_options.h"
#include "engine/train/training_run.h"
#include "loaders/batch_source.h"
#include "store/dataset.h"

namespace salient {

struct TrainResult {
  int interrupted_by = 0;  ///< the signal that ended it early, on any rank; 0 = none
  int best_epoch = 0;
  Metric metric = Metric::kAccuracy;        ///< what the next two are
  std::optional<double> valid{};            ///< of the best epoch; none without validation nodes
  std::optional<double> test{};             ///< of the best epoch's model; none without test nodes
  Figures valid_figures{}, test_figures{};  ///< of the same, the metric among them
  EpochMetrics last_epoch{};                ///< its time columns end the run's report
  std::vector<EpochMetrics> epochs{};       ///< that this process trained
};

/// Refuses a data set that the run cannot learn from. @throws Error{kUsage}; as metric_for().
void require_trainable(const TrainOptions& options, const Dataset& dataset);

/// Trains on the training nodes of one data set. Every rank makes one, with the same options, and calls run(): both are
/// collective.
class Trainer {
 public:
  /// @param options  resolved by fit_to_machine(); options.output.resume names the checkpoint's run to continue.
  /// @param run      with the plan of these options, for data where it is: plan_training()
  /// @param source   of training batches, for eager steps; null = the product's own loader.
  /// @throws Error{kUsage} when there is nothing to train on, Error{kBadData} for an unusable checkpoint.
  Trainer(const TrainOptions& options, TrainingRun run, std::unique_ptr<BatchSource> source = nullptr);
  ~Trainer();
  Trainer(const Trainer&) = delete;
  Trainer& operator=(const Trainer&) = delete;

  /// Trains to the last epoch, or to the step at which a signal asks to end, and leaves a checkpoint either way.
  ///
  /// @throws Error{kDiverged} naming the step at which the loss was not finite; whatever a worker threw.
  /// Determinism: on a CPU the losses depend on the options alone, whatever the number of workers.
  TrainResult run();

  /// Floats that the ranks exchange in a step.
  std::size_t num_gradients() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace salient
