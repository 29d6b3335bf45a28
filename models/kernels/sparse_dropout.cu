// models/kernels/sparse_dropout.cu - dropout of sparse rows on the device.
//
// Work split  a warp per row, whose lanes stride over its values; grid stride over rows.
// Access      neighbouring values and columns for a warp.
// Limit       Philox: one block of 20 multiplications for each value.
// Sync        none.
#include "core/cuda/cuda.h"
#include "models/kernels/launch.cuh"
#include "models/kernels/sparse_dropout.h"

namespace salient {
namespace {

constexpr int kWarp = 32;

__device__ float as_float(float x) { return x; }
__device__ float as_float(Half x) { return __half2float(__ushort_as_half(x.bits)); }

template <class T>
__global__ void __launch_bounds__(kThreadsPerBlock)
    sparse_dropout_kernel(DropoutMask mask, SparseRowsOf<T> x, const std::uint32_t* __restrict__ nodes,
                          float* __restrict__ out) {
  const std::int64_t stride = std::int64_t{gridDim.x} * (kThreadsPerBlock / kWarp);
  std::int64_t i = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / kWarp;
  for (; i < x.num_rows; i += stride) {
    const std::uint32_t node = __ldg(nodes + i);
    const LocalId last = __ldg(x.begin + i + 1);
    for (LocalId k = __ldg(x.begin + i) + static_cast<LocalId>(threadIdx.x % kWarp); k < last; k += kWarp) {
      const auto column = static_cast<std::uint32_t>(__ldg(x.columns + k));
      const bool is_in = is_kept(mask, node, column);
      out[k] = is_in ? as_float(x.values[k]) * mask.scale : 0.0f;
    }
  }
}

}  // namespace

template <class T>
void sparse_dropout(const DropoutMask& mask, const SparseRowsOf<T>& x, const std::uint32_t* nodes, float* out,
                    cudaStream_t stream) {
  if (x.num_rows == 0) return;
  sparse_dropout_kernel<T><<<blocks_for(x.num_rows * kWarp), kThreadsPerBlock, 0, stream>>>(mask, x, nodes, out);
  cuda_check(cudaGetLastError());
}

template void sparse_dropout<float>(const DropoutMask&, const SparseRowsOf<float>&, const std::uint32_t*, float*,
                                    cudaStream_t);
template void sparse_dropout<Half>(const DropoutMask&, const SparseRowsOf<Half>&, const std::uint32_t*, float*,
                                   cudaStream_t);

}  // namespace salient
