// models/kernels/adam.cu - see adam.h.
//
// Work split  a thread per element; the block that ends last counts the step.
// Access      streams of neighbouring words.
// Limit       latency: the buffers of the models at hand are in the L2 cache.
// Sync        one block-wide barrier; one atomic per block.
#include "core/cuda/cuda.h"
#include "models/kernels/adam.h"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// What is the same for all elements of a step.
struct Corrected {
  float step_size, root_of_correction2;
};

__global__ void __launch_bounds__(kThreadsPerBlock) adam_kernel(AdamState state, AdamRates rates) {
  const std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x;
  const bool is_element = i < state.size;
  // loaded before the first thread's powers are waited for
  const float before = is_element ? state.parameters[i] : 0.0f, gradient = is_element ? state.gradients[i] : 0.0f;
  const float old_mean = is_element ? state.exp_avg[i] : 0.0f, old_mean_sq = is_element ? state.exp_avg_sq[i] : 0.0f;
  __shared__ Corrected corrected;
  if (threadIdx.x == 0) {
    const double step = *state.step + 1.0;
    corrected = {static_cast<float>(rates.lr / (1 - pow(rates.beta1, step))),
                 static_cast<float>(sqrt(1 - pow(rates.beta2, step)))};
  }
  __syncthreads();
  if (is_element) {
    const float g = gradient + static_cast<float>(rates.weight_decay) * before;
    const float mean = static_cast<float>(rates.beta1) * old_mean + static_cast<float>(1 - rates.beta1) * g;
    const float mean_sq = static_cast<float>(rates.beta2) * old_mean_sq + static_cast<float>(1 - rates.beta2) * g * g;
    const float root = sqrtf(mean_sq) / corrected.root_of_correction2 + static_cast<float>(rates.eps);
    state.exp_avg[i] = mean;
    state.exp_avg_sq[i] = mean_sq;
    state.parameters[i] = before - corrected.step_size * mean / root;
  }
  if (threadIdx.x != 0 || atomicAdd(state.num_finished_blocks, 1U) + 1 < gridDim.x) return;
  *state.num_finished_blocks = 0;  // every block has read the step
  *state.step += 1;
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void adam_step(const AdamState& state, const AdamRates& rates, CUstream_st* stream) {
  if (state.size == 0) return;
  const auto blocks = static_cast<unsigned>((state.size + kThreadsPerBlock - 1) / kThreadsPerBlock);
  adam_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(state, rates);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
