// engine/train/resident_steps.h - steps that stay on the GPU: models/resident, where the run allows it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/infer/resident_predictions.h"
#include "engine/train/eager_steps.h"
#include "engine/train/gradient_steps.h"
#include "loaders/residency.h"

namespace salient {

/// What prevents resident steps, as a fact; "" = nothing. Depends on the arguments alone, so it is the same on all
/// ranks.
std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data);

/// Whether a run takes them where nothing prevents them: if they were asked for, or else are faster.
bool may_take_resident_steps(const TrainOptions& options);

/// Whether a run takes them: if it may, and nothing prevents them.
/// @throws Error{kUsage} if they were asked for and something prevents them.
bool takes_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data);

/// The batches of validation and test, for predictions beside resident steps.
ResidentSpec evaluation_spec(const TrainOptions& options, const Dataset& dataset);

/// What prevents resident predictions in a run with resident steps.
std::string obstacle_to_resident_evaluation(const TrainOptions& options, const Dataset& dataset);

/// GPU memory that they take beside graph and features, in bytes. Only without an obstacle.
std::int64_t resident_steps_bytes(const TrainOptions& options, const Dataset& dataset, int num_ranks);

/// Without an obstacle. Blocks: allocates, and times matrix products for a second at most.
/// @throws Error{kDeviceMemory}
std::unique_ptr<GradientSteps> make_resident_steps(const StepParts& parts);

}  // namespace salient
