// engine/train/training_run.h - what a training works with, beside its options.
#pragma once

#include <filesystem>

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/plan/run_plan.h"
#include "engine/train/train_options.h"
#include "loaders/batch_loader.h"
#include "loaders/resident_data.h"
#include "store/dataset.h"

namespace salient {

/// References and the plan: what they refer to outlives this.
struct TrainingRun {
  const Dataset& dataset;
  const ResidentData& data;  ///< of the data set
  const ComputeDevice& device;
  Communicator& comm;
  RunPlan plan{};
  std::filesystem::path directory{};  ///< the run directory, which exists; only rank 0 writes
};

/// Of the run's training or evaluation loader.
LoaderOptions loader_options_of(const TrainOptions& options, SamplingRule rule, const TrainingRun& run);

}  // namespace salient
