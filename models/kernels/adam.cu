// models/kernels/adam.cu - see adam.h.
//
// Work split  a thread per four elements; the block that ends last counts the step.
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

constexpr int kPerThread = 4, kPerBlock = kThreadsPerBlock * kPerThread;

__global__ void __launch_bounds__(kThreadsPerBlock) adam_kernel(AdamState state, AdamRates rates) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kPerBlock + threadIdx.x;
  float before[kPerThread], gradient[kPerThread], old_mean[kPerThread], old_mean_sq[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {  // before the powers are waited for
    const std::int64_t i = first + k * kThreadsPerBlock;
    if (i >= state.size) continue;
    before[k] = state.parameters[i], gradient[k] = state.gradients[i];
    old_mean[k] = state.exp_avg[i], old_mean_sq[k] = state.exp_avg_sq[i];
  }
  __shared__ Corrected corrected;
  if (threadIdx.x == 0) corrected.step_size = static_cast<float>(rates.lr / (1 - pow(rates.beta1, *state.step + 1.0)));
  if (threadIdx.x == 32)  // of another warp, at the same time
    corrected.root_of_correction2 = static_cast<float>(sqrt(1 - pow(rates.beta2, *state.step + 1.0)));
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const std::int64_t i = first + k * kThreadsPerBlock;
    if (i >= state.size) continue;
    const float g = gradient[k] + static_cast<float>(rates.weight_decay) * before[k];
    const float mean = static_cast<float>(rates.beta1) * old_mean[k] + static_cast<float>(1 - rates.beta1) * g;
    const float mean_sq =
        static_cast<float>(rates.beta2) * old_mean_sq[k] + static_cast<float>(1 - rates.beta2) * g * g;
    const float root = sqrtf(mean_sq) / corrected.root_of_correction2 + static_cast<float>(rates.eps);
    state.exp_avg[i] = mean;
    state.exp_avg_sq[i] = mean_sq;
    state.parameters[i] = before[k] - corrected.step_size * mean / root;
  }
  if (threadIdx.x != 0 || atomicAdd(state.num_finished_blocks, 1U) + 1 < gridDim.x) return;
  *state.num_finished_blocks = 0;  // every block has read the step
  *state.step += 1;
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void adam_step(const AdamState& state, const AdamRates& rates, CUstream_st* stream) {
  if (state.size == 0) return;
  const auto blocks = static_cast<unsigned>((state.size + kPerBlock - 1) / kPerBlock);
  adam_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(state, rates);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
