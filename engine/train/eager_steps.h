// engine/train/eager_steps.h - steps of any model: batches of a source, LibTorch's autograd.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "engine/device/step_clock.h"
#include "engine/train/epoch_seeds.h"
#include "engine/train/flat_adam.h"
#include "engine/train/gradient_steps.h"
#include "engine/train/objective.h"
#include "engine/train/training_run.h"
#include "models/model.h"

namespace salient {

/// What steps work on; all of it outlives them.
struct StepParts {
  const TrainOptions& options;
  const TrainingRun& run;
  const EpochSeeds& seeds;
  Model& model;
  FlatAdam& optimizer;
  Objective& objective;
  StepClock& clock;
};

/// The loss of a batch, summed over its terms on this rank, and recorded by the objective.
/// @param outputs  of the model, for the batch's seeds
using BatchLoss = std::function<at::Tensor(std::size_t step, const BatchView& batch, const at::Tensor& outputs)>;

class EagerSteps final : public GradientSteps {
 public:
  /// Of seeds that have labels: Objective::loss_sum() of these.
  EagerSteps(const StepParts& parts, std::unique_ptr<BatchSource> source);
  EagerSteps(const StepParts& parts, std::unique_ptr<BatchSource> source, BatchLoss loss)
      : parts_(parts), source_(std::move(source)), loss_sum_(std::move(loss)) {}

  void start(std::vector<BatchRequest> requests, std::vector<double>) override { source_->start(std::move(requests)); }
  std::size_t next(std::uint32_t global_step) override;
  void stop() override { source_->stop(); }
  LoaderStats stats() const override { return source_->stats(); }

 private:
  StepParts parts_;
  std::unique_ptr<BatchSource> source_;
  BatchLoss loss_sum_;
};

}  // namespace salient
