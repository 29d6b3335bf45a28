// sampler/device_launch.cuh - how the sampler's kernels are launched: a thread per item, grid stride; and its sums.
#pragma once

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cub/device/device_scan.cuh>

#include "core/cuda/cuda.h"
#include "core/cuda/device_buffer.h"
#include "core/types.h"

namespace salient {

inline constexpr int kBlockSize = 256;
inline constexpr std::int64_t kMaxBlocks = 1 << 16;  // kernels stride past this; it bounds the launch, not the work

__device__ inline std::int64_t first_index() { return std::int64_t{blockIdx.x} * kBlockSize + threadIdx.x; }
__device__ inline std::int64_t index_stride() { return std::int64_t{gridDim.x} * kBlockSize; }

/// One thread per item; no launch for none.
template <class... Parameters, class... Arguments>
void launch(std::int64_t num_items, cudaStream_t stream, void (*kernel)(Parameters...), Arguments... arguments) {
  if (num_items == 0) return;  // CUDA refuses a grid of zero blocks
  const auto blocks = static_cast<unsigned>(std::min(kMaxBlocks, (num_items + kBlockSize - 1) / kBlockSize));
  kernel<<<blocks, kBlockSize, 0, stream>>>(arguments...);
  cuda_check(cudaGetLastError());
}

/// sums[i] = value_of(0) + ... + value_of(i - 1), for i in [0, count).
template <class Sum, class ValueOf>
void exclusive_sum(const ValueOf& value_of, LocalId count, Sum* sums, DeviceBuffer<std::byte>& scratch,
                   cudaStream_t stream) {
  const auto values = thrust::make_transform_iterator(thrust::counting_iterator<LocalId>(0), value_of);
  std::size_t bytes = 0;
  cuda_check(cub::DeviceScan::ExclusiveSum(nullptr, bytes, values, sums, count, stream));
  cuda_check(cub::DeviceScan::ExclusiveSum(scratch.reserve(bytes), bytes, values, sums, count, stream));
}

}  // namespace salient
