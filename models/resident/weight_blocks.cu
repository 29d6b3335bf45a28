// models/resident/weight_blocks.cu - see weight_blocks.h.
//
// Work split  a thread per element of a block, a row of thread blocks per weight block; grid stride.
// Limit       latency: weights are a few megabytes, in the L2 cache.
// Sync        none.
#include <algorithm>

#include "models/kernels/launch.cuh"
#include "models/products/eight_columns.cuh"
#include "models/resident/weight_blocks.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock) pack_kernel(const WeightBlock* __restrict__ blocks) {
  const WeightBlock b = blocks[blockIdx.y];
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < b.rows * b.columns;
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const std::int64_t row = t / b.columns, column = t % b.columns;
    float value = b.value[row * b.stride + column];
    if (b.addend != nullptr) value += b.addend[row * b.stride + column];
    static_cast<T*>(b.packed)[row * b.packed_width + b.first_column + column] = static_cast<T>(value);
  }
}

__global__ void __launch_bounds__(kThreadsPerBlock) unpack_kernel(const WeightBlock* __restrict__ blocks) {
  const WeightBlock b = blocks[blockIdx.y];
  for (std::int64_t t = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; t < b.rows * b.columns;
       t += std::int64_t{gridDim.x} * kThreadsPerBlock) {
    const std::int64_t row = t / b.columns, column = t % b.columns;
    const float gradient = b.packed_gradient[row * b.packed_width + b.first_column + column];
    b.gradient[row * b.stride + column] = gradient;
    if (b.addend_gradient != nullptr) b.addend_gradient[row * b.stride + column] = gradient;
  }
}

}  // namespace

// ---- host code -------------------------------------------------------------------------------------------

void WeightBlocks::finish() {
  on_device_ = make_device_array<WeightBlock>(blocks_.size());
  cuda_check(cudaMemcpy(on_device_.get(), blocks_.data(), blocks_.size() * sizeof blocks_[0], cudaMemcpyHostToDevice));
  for (const WeightBlock& block : blocks_) largest_ = std::max(largest_, block.rows * block.columns);
}

void WeightBlocks::pack(ActivationType type, cudaStream_t stream) const {
  const dim3 grid(blocks_for(largest_), static_cast<unsigned>(blocks_.size()));
  const auto kernel = type == ActivationType::kF32 ? pack_kernel<float> : pack_kernel<Bf16>;
  kernel<<<grid, kThreadsPerBlock, 0, stream>>>(on_device_.get());
  cuda_check(cudaGetLastError());
}

void WeightBlocks::unpack_gradients(cudaStream_t stream) const {
  const dim3 grid(blocks_for(largest_), static_cast<unsigned>(blocks_.size()));
  unpack_kernel<<<grid, kThreadsPerBlock, 0, stream>>>(on_device_.get());
  cuda_check(cudaGetLastError());
}

}  // namespace salient
