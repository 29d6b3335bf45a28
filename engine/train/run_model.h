// engine/train/run_model.h - the model that a run's options ask for, and the identity of its checkpoints.
#pragma once

#include <memory>
#include <string>

#include "engine/report/metric.h"
#include "engine/train/checkpoint.h"
#include "engine/train/train_options.h"
#include "models/model.h"
#include "sampler/sampling_rule.h"
#include "store/dataset.h"

namespace salient {

/// options.model with the dimensions that the data set gives, and the run's seed. A model for links ends with rows of
/// the hidden width.
ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset);

/// The model of a run, with the decoder that links need, as make_model().
std::shared_ptr<Model> make_model_of_run(const TrainOptions& options, const Dataset& dataset, const Numerics& numerics);

/// What its checkpoints say of it: model_config_json(), of links with the decoder.
std::string model_config_of(const TrainOptions& options, const Dataset& dataset);

/// The neighbours of training's batches, and of evaluation's.
/// @throws Error{kUsage} for fanouts of a relation that the data set has not
SamplingRule training_rule(const TrainOptions& options, const Dataset& dataset);
SamplingRule evaluation_rule(const TrainOptions& options, const Dataset& dataset);

/// What an epoch goes through: the numbers of the training links, or the training nodes.
std::size_t num_training_items(const TrainOptions& options, const Dataset& dataset);

/// The metric that chooses the best epoch: metric_for(), and of links MRR where none is chosen.
/// @throws Error{kUsage} for one that the task does not have; as metric_for()
Metric metric_of_run(const TrainOptions& options, const Dataset& dataset);

/// The precision, fp32 where none is chosen yet, and the order of sums that the options ask for.
Numerics numerics_of(const TrainOptions& options);

/// @throws as metric_of_run().
CheckpointIdentity checkpoint_identity(const TrainOptions& options, const Dataset& dataset, int num_ranks);

}  // namespace salient
