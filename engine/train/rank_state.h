// engine/train/rank_state.h - state that is the same on all ranks: weights, optimiser, position; work of rank 0 alone.
#pragma once

#include <string>

#include "engine/comm/agreement.h"
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

/// The same for a model without an optimiser.
void take_weights_of_rank_0(Communicator& comm, const ComputeDevice& device, Model& model);

/// Finds ranks that drift apart, which would otherwise train models of their own unnoticed. Collective; waits for the
/// device.
/// @throws RankError{kInternal} on all ranks when their parameters are not the same bits.
void require_equal_parameters(Communicator& comm, const FlatAdam& optimizer, const std::string& when);

/// Does what rank 0 alone does, such as writing files; when that fails, it fails on all ranks. Collective.
template <class Work>
void on_rank_0(Communicator& comm, Work&& work) {
  together(comm, [&] {
    if (comm.rank() == 0) work();
  });
}

}  // namespace salient
