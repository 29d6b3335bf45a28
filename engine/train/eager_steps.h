// engine/train/eager_steps.h - steps of any model: batches of a source, LibTorch's autograd.
#pragma once

#include <memory>

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

class EagerSteps final : public GradientSteps {
 public:
  EagerSteps(const StepParts& parts, std::unique_ptr<BatchSource> source) : parts_(parts), source_(std::move(source)) {}

  void start(std::vector<BatchRequest> requests, std::vector<double>) override { source_->start(std::move(requests)); }
  std::size_t next(std::uint32_t global_step) override;
  void stop() override { source_->stop(); }
  LoaderStats stats() const override { return source_->stats(); }

 private:
  StepParts parts_;
  std::unique_ptr<BatchSource> source_;
};

}  // namespace salient
