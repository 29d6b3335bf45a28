// models/resident/attention_vectors.cu - see attention.h: attention's vectors from the parameters, and the gradients of
// both.
//
// Work split  a warp of columns per block, or a warp per row of the weight.
// Limit       latency: a weight is a few hundred kilobytes, in the L2 cache.
// Sync        shared memory, warp shuffles.
#include "models/kernels/launch.cuh"
#include "models/resident/attention.h"
#include "models/resident/attention_slots.cuh"

namespace salient {
namespace {

constexpr int kWarps = kThreadsPerBlock / 32;

/// Lanes by columns, warps of a block by rows of the weight.
__global__ void __launch_bounds__(kThreadsPerBlock) vectors_kernel(Attention a, std::int64_t width) {
  __shared__ float partial[kWarps][2][32];
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  const std::int64_t column = std::int64_t{blockIdx.x} * 32 + lane;
  float source = 0, target = 0;
  for (std::int64_t row = warp; row < a.out_dim && column < a.in_dim; row += kWarps) {
    const float weight = a.weight[row * a.in_dim + column];
    source += weight * a.att_src[row];
    target += weight * a.att_dst[row];
  }
  partial[warp][0][lane] = source;
  partial[warp][1][lane] = target;
  __syncthreads();
  if (warp >= 2 || column >= a.in_dim) return;
  float sum = 0;
  for (const auto& of_warp : partial) sum += of_warp[warp][lane];
  a.vectors[warp * width + column] = sum;
}

/// A warp per row of the weight.
__global__ void __launch_bounds__(kThreadsPerBlock) parameter_gradients_kernel(Attention a, std::int64_t width) {
  const int lane = static_cast<int>(threadIdx.x) & 31;
  const std::int64_t row = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / 32;
  if (row >= a.out_dim) return;
  const float *const source = a.vectors + 2 * width, *const target = a.vectors + 3 * width;
  const float att_src = a.att_src[row], att_dst = a.att_dst[row];
  float of_src = 0, of_dst = 0;
  for (std::int64_t column = lane; column < a.in_dim; column += 32) {
    const std::int64_t at = row * a.in_dim + column;
    a.weight_gradient[at] += att_src * source[column] + att_dst * target[column];
    of_src += a.weight[at] * source[column];
    of_dst += a.weight[at] * target[column];
  }
  of_src = warp_sum(of_src);
  of_dst = warp_sum(of_dst);
  if (lane != 0) return;
  a.att_src_gradient[row] = of_src;
  a.att_dst_gradient[row] = of_dst;
}

}  // namespace

void attention_vectors(const Attention& attention, cudaStream_t stream) {
  vectors_kernel<<<static_cast<unsigned>((attention.in_dim + 31) / 32), kThreadsPerBlock, 0, stream>>>(
      attention, padded(attention.in_dim));
  cuda_check(cudaGetLastError());
}

void attention_parameter_gradients(const Attention& attention, cudaStream_t stream) {
  parameter_gradients_kernel<<<blocks_for(attention.out_dim * 32), kThreadsPerBlock, 0, stream>>>(
      attention, padded(attention.in_dim));
  cuda_check(cudaGetLastError());
}

}  // namespace salient
