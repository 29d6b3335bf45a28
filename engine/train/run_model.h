// engine/train/run_model.h - the model that a run's options ask for.
#pragma once

#include "engine/train/train_options.h"
#include "loaders/dataset.h"
#include "models/model.h"

namespace salient {

/// Without the dimensions that a data set gives: enough for problems_of().
ModelOptions model_options_of(const TrainOptions& options);
ModelOptions model_options_of(const TrainOptions& options, const Dataset& dataset);

}  // namespace salient
