// models/resident/parameter_update.h - the optimiser's step inside a resident step, with the gradients of all ranks.
#pragma once

#include <optional>

#include "core/cuda/cuda.h"
#include "models/kernels/adam.h"
#include "models/resident/peer_sums.h"
#include "models/resident/step_header.h"

namespace salient {

/// Adam's step of a model's parameters.
struct ParameterUpdate {
  AdamState state;
  AdamRates rates;                  ///< but for lr
  std::optional<PeerSums> peers{};  ///< with whom the gradients are summed first: values in the order of the state
};

/// The sum over ranks, and adam_step(). Enqueues and returns; can be captured.
/// @param header  device: the learning rate
/// Determinism: gradients are added in the order of ranks, so all have the same bits.
void update_parameters(const ParameterUpdate& update, const StepHeader* header, cudaStream_t stream);

}  // namespace salient
