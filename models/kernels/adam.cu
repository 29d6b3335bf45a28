// models/kernels/adam.cu - see adam.h and adam_rows.h.
//
// Work split  a thread per four elements; the block that ends last counts the step. Of listed rows a thread an element,
//             grid stride.
// Access      streams of neighbouring words.
// Limit       latency: the buffers of the models at hand are in the L2 cache.
// Sync        one block-wide barrier; one atomic per block.
#include "core/cuda/cuda.h"
#include "models/kernels/adam.cuh"
#include "models/kernels/adam_rows.h"
#include "models/kernels/launch.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

constexpr int kPerThread = 4, kPerBlock = kThreadsPerBlock * kPerThread;

__global__ void __launch_bounds__(kThreadsPerBlock)
    adam_kernel(AdamState state, AdamRates rates, const double* __restrict__ learning_rate) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kPerBlock + threadIdx.x;
  AdamElement element[kPerThread];
  float gradient[kPerThread];
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {  // before the powers are waited for
    const std::int64_t i = first + k * kThreadsPerBlock;
    if (i >= state.size) continue;
    element[k] = AdamElement::of(state, i), gradient[k] = state.gradients[i];
  }
  __shared__ AdamCorrections corrections;
  AdamCorrections::compute(rates, learning_rate == nullptr ? rates.lr : *learning_rate, *state.step, &corrections);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < kPerThread; ++k) {
    const std::int64_t i = first + k * kThreadsPerBlock;
    if (i < state.size) element[k].after(gradient[k], rates, corrections).store(state, i);
  }
  if (threadIdx.x == 0) count_adam_step(state, gridDim.x);
}

__global__ void __launch_bounds__(kThreadsPerBlock) adam_rows_kernel(AdamRowsState state, AdamRates rates) {
  __shared__ AdamCorrections corrections;
  AdamCorrections::compute(rates, rates.lr, *state.step, &corrections);
  __syncthreads();
  const AdamState table{.parameters = state.table,
                        .gradients = nullptr,
                        .exp_avg = state.exp_avg,
                        .exp_avg_sq = state.exp_avg_sq,
                        .step = nullptr,
                        .num_finished_blocks = nullptr,
                        .size = 0};
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock, size = state.count * state.width;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; i < size; i += stride) {
    const std::int64_t at = __ldg(state.rows + i / state.width) * state.width + i % state.width;
    AdamElement::of(table, at).after(__ldg(state.gradients + i), rates, corrections).store(table, at);
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void adam_step(const AdamState& state, const AdamRates& rates, CUstream_st* stream, const double* learning_rate) {
  if (state.size == 0) return;
  const auto blocks = static_cast<unsigned>((state.size + kPerBlock - 1) / kPerBlock);
  adam_kernel<<<blocks, kThreadsPerBlock, 0, stream>>>(state, rates, learning_rate);
  cuda_check(cudaGetLastError());
}

void adam_rows_step(const AdamRowsState& state, const AdamRates& rates, CUstream_st* stream) {
  if (state.count == 0 || state.width == 0) return;
  adam_rows_kernel<<<blocks_for(state.count * state.width), kThreadsPerBlock, 0, stream>>>(state, rates);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
