// engine/train/resident_steps.h - steps that stay on the GPU: models/resident, where the run allows it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/infer/resident_predictions.h"
#include "engine/train/eager_steps.h"
#include "engine/train/gradient_steps.h"
#include "loaders/residency.h"

namespace salient {

/// What prevents resident steps, as a fact; "" = nothing. Depends on the arguments alone, so it is the same on all
/// ranks with their data in the same place.
///
/// @param num_ranks  that share a global batch
std::string obstacle_to_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                       int num_ranks);

/// Why a run does not take them: they were not asked for, something prevents them, or without being asked for they
/// would be slower. "" = it takes them.
std::string reason_for_eager_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                   int num_ranks);

/// The precision of a run, which may leave it open: bf16 then where its steps in bf16 are resident, fp32 elsewhere.
Precision precision_for(const TrainOptions& options, const Dataset& dataset, const DataResidency& data, int num_ranks);

/// The same on all ranks, whose data may be in different places. Collective.
Precision precision_on_all_ranks(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                                 Communicator& comm);

/// Whether a run takes them.
/// @throws Error{kUsage} if they were asked for and something prevents them.
bool takes_resident_steps(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                          int num_ranks);

/// The batches of training on every rank: with room for the last rank's share, than which none is larger.
ResidentSpec training_spec(const TrainOptions& options, const Dataset& dataset, int num_ranks);

/// The batches of validation and test, for predictions beside resident steps.
ResidentSpec evaluation_spec(const TrainOptions& options, const Dataset& dataset);

/// Why a run with resident steps has no resident predictions; "" = it has.
std::string reason_for_eager_evaluation(const TrainOptions& options, const Dataset& dataset);

/// GPU memory that they take beside graph and features, in bytes. Only without an obstacle.
std::int64_t resident_steps_bytes(const TrainOptions& options, const Dataset& dataset, int num_ranks);

/// Without an obstacle. Blocks: allocates, and times matrix products for a second at most.
/// @throws Error{kDeviceMemory}
std::unique_ptr<GradientSteps> make_resident_steps(const StepParts& parts);

}  // namespace salient
