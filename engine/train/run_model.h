// engine/train/run_model.h - the model that a run's options ask for, and the identity of its checkpoints.
#pragma once

#include "engine/train/checkpoint.h"
#include "engine/train/train_options.h"
#include "models/model.h"
#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

/// options.model with the dimensions that the data set gives, and the run's seed.
ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset);

/// The neighbours of training's batches, and of evaluation's.
/// @throws Error{kUsage} for fanouts of a relation that the data set has not
SamplingRule training_rule(const TrainOptions& options, const Dataset& dataset);
SamplingRule evaluation_rule(const TrainOptions& options, const Dataset& dataset);

/// The precision, fp32 where none is chosen yet, and the order of sums that the options ask for.
Numerics numerics_of(const TrainOptions& options);

/// @throws as metric_for().
CheckpointIdentity checkpoint_identity(const TrainOptions& options, const Dataset& dataset, int num_ranks);

}  // namespace salient
