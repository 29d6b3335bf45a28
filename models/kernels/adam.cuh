// models/kernels/adam.cuh - Adam's step of one element, for the kernels that do it.
#pragma once

#include "models/kernels/adam.h"

namespace salient {

/// What is the same for all elements of a step.
struct AdamCorrections {
  float step_size, root_of_correction2;

  /// Into shared memory; by all threads of a block of at least two warps, which find them behind its next barrier.
  /// @param lr  in place of rates.lr
  __device__ static void compute(const AdamRates& rates, double lr, float steps_before, AdamCorrections* to) {
    if (threadIdx.x == 0) to->step_size = static_cast<float>(lr / (1 - pow(rates.beta1, steps_before + 1.0)));
    if (threadIdx.x == 32)  // of another warp, at the same time
      to->root_of_correction2 = static_cast<float>(sqrt(1 - pow(rates.beta2, steps_before + 1.0)));
  }
};

struct AdamElement {
  float value, mean, mean_sq;

  __device__ static AdamElement of(const AdamState& state, std::int64_t i) {
    return {state.parameters[i], state.exp_avg[i], state.exp_avg_sq[i]};
  }
  __device__ AdamElement after(float gradient, const AdamRates& rates, const AdamCorrections& corrections) const {
    const float g = gradient + static_cast<float>(rates.weight_decay) * value;
    const float new_mean = static_cast<float>(rates.beta1) * mean + static_cast<float>(1 - rates.beta1) * g;
    const float new_mean_sq = static_cast<float>(rates.beta2) * mean_sq + static_cast<float>(1 - rates.beta2) * g * g;
    const float root = sqrtf(new_mean_sq) / corrections.root_of_correction2 + static_cast<float>(rates.eps);
    return {value - corrections.step_size * new_mean / root, new_mean, new_mean_sq};
  }
  __device__ void store(const AdamState& state, std::int64_t i) const {
    state.parameters[i] = value, state.exp_avg[i] = mean, state.exp_avg_sq[i] = mean_sq;
  }
};

/// The block that ends last counts the step. By one thread of each of `num_blocks` blocks, which have read the step.
/// @return  whether this block is the one
__device__ inline bool count_adam_step(const AdamState& state, unsigned num_blocks) {
  if (atomicAdd(state.num_finished_blocks, 1U) + 1 < num_blocks) return false;
  *state.num_finished_blocks = 0;
  *state.step += 1;
  return true;
}

}  // namespace salient
