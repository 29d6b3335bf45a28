// engine/train/training_plan.h - from a training's options to its plan.
#pragma once

#include "engine/device/planned_data.h"
#include "engine/plan/run_plan.h"
#include "engine/train/train_options.h"
#include "store/dataset.h"

namespace salient {

/// The batches of training on every rank, with room for the last rank's share, than which none is larger; those of
/// validation and test; and what was asked for.
/// @param options    resolved by fit_to_machine(), as in all of these   @param num_ranks  that share a global batch
RunRequest request_of(const TrainOptions& options, const Dataset& dataset, int num_ranks);

/// Where the data goes, beside needs_of_training(), and what follows from it. Collective.
/// @throws as plan_data().
RunPlan plan_training(const RankPlace& place, const TrainOptions& options, const Dataset& dataset);

/// Of data that is somewhere already. Collective.
RunPlan plan_training(const TrainOptions& options, const Dataset& dataset, const DataResidency& data,
                      Communicator& comm);

}  // namespace salient
