// engine/train/rank_state.h - what all ranks must hold alike: weights, optimiser state, position.
#pragma once

#include <string>

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "engine/train/checkpoint.h"
#include "engine/train/flat_adam.h"
#include "models/model.h"

namespace salient {

/// Everything that a step changes becomes rank 0's: only rank 0 needs to see the run directory. Collective.
void take_state_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model, FlatAdam& optimizer,
                          TrainProgress& progress);

/// Weights and buffers alone. Buffers (running means of batch normalisation) drift apart between ranks, as each sees
/// its own share of a batch; rank 0's count, as in PyTorch's DistributedDataParallel. Collective.
void take_weights_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model, FlatAdam& optimizer);

/// The same for a model that nobody trains.
void take_weights_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model);

/// Ranks that drift apart train on without a word, each its own model. Collective; waits for the device.
/// @throws RankError{kInternal} on all ranks when their parameters are not the same bits.
void require_equal_parameters(Communicator& comm, const FlatAdam& optimizer, const std::string& when);

}  // namespace salient
