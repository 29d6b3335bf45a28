// engine/train/training_needs.h - the memory that a training takes, known before it is allocated.
#pragma once

#include "engine/device/data_plan.h"
#include "engine/train/train_options.h"
#include "store/dataset.h"

namespace salient {

/// Samples a few batches of the run itself and multiplies dimensions; allocates nothing lasting, and makes no model.
///
/// @param options    resolved by fit_to_machine()
/// @param on_gpu     the model computes there
/// @param num_ranks  that share a global batch
RunNeeds needs_of_training(const TrainOptions& options, const Dataset& dataset, bool on_gpu, int num_ranks);

}  // namespace salient
