// engine/infer/make_predictions.h - the predictions of a plan, resident or eager.
#pragma once

#include <memory>

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/infer/predictions.h"
#include "engine/plan/batch_plan.h"
#include "loaders/batch_loader.h"
#include "models/model.h"
#include "store/dataset.h"

namespace salient {

/// What predictions are made of; all of it but `loading` outlives them.
struct PredictionParts {
  const Dataset& dataset;
  const LoaderOptions& loading;  ///< with the data in place
  const ComputeDevice& device;
  Communicator& comm;
  const Model& model;  ///< on the device
};

/// As planned. Collective where features are partitioned.
std::unique_ptr<Predictions> make_predictions(const BatchPlan& plan, const PredictionParts& parts);

/// As the rules plan them; on a GPU rank 0's log says what that is.
/// @param question  with the data in place
/// @throws Error{kUsage} where resident ones are asked for and a rule prevents them
std::unique_ptr<Predictions> make_predictions(const StepQuestion& question, const PredictionParts& parts);

}  // namespace salient
