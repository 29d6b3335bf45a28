// models/kernels/gat_logits.cu - GAT's logits on the device.
//
// Work split  a warp per (row, head), lanes over the row's edges.
// Access      scores and logits are scalars, read through the L1 cache.
// Sync        warp shuffles; atomics for the gradient of the sources' scores, or, where the edges by source are given,
//             a second kernel with a thread per (source, head).
#include "models/kernels/attention_edges.cuh"
#include "models/kernels/gat_logits.h"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

__global__ void gat_logits_kernel(HopEdges hop, std::int64_t heads, float slope, const float* __restrict__ score_src,
                                  const float* __restrict__ score_dst, float* __restrict__ logits) {
  for_each_edge_group(hop, heads, 5, [&](const EdgeGroup& at) {
    const float own = score_dst[at.row * heads + at.head];
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp) {
      const std::int64_t j = source_of(hop, at, e);
      const float raw = j < 0 ? 0 : score_src[j * heads + at.head] + own;
      logits[e * heads + at.head] = j < 0 ? -INFINITY : raw > 0 ? raw : slope * raw;
    }
  });
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <bool kAtomics>
__global__ void gat_logits_backward_kernel(HopEdges hop, std::int64_t heads, float slope,
                                           const float* __restrict__ score_src, const float* __restrict__ score_dst,
                                           const float* __restrict__ grad_logits, float* __restrict__ grad_src,
                                           float* __restrict__ grad_dst) {
  for_each_edge_group(hop, heads, 5, [&](const EdgeGroup& at) {
    const float own = score_dst[at.row * heads + at.head];
    float sum = 0;
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp) {
      const std::int64_t j = source_of(hop, at, e);
      if (j < 0) continue;
      const float grad = grad_logits[e * heads + at.head] * (score_src[j * heads + at.head] + own > 0 ? 1 : slope);
      if constexpr (kAtomics) atomicAdd(grad_src + j * heads + at.head, grad);
      sum += grad;
    }
    sum = warp_sum(sum);
    if (at.lane == 0) grad_dst[at.row * heads + at.head] = sum;
  });
}

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
__global__ void __launch_bounds__(kThreadsPerBlock)
    gat_grad_src_kernel(HopEdges hop, SourceEdges by_source, std::int64_t heads, float slope,
                        const float* __restrict__ score_src, const float* __restrict__ score_dst,
                        const float* __restrict__ grad_logits, float* __restrict__ grad_src) {
  const std::int64_t stride = std::int64_t{gridDim.x} * kThreadsPerBlock;
  for (std::int64_t p = std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x; p < hop.num_src * heads;
       p += stride) {
    const std::int64_t head = p % heads;
    float sum = 0;
    for_each_edge_of_source(hop, by_source, p / heads, [&](std::int64_t i, std::int64_t edge) {
      const float raw = score_src[p] + score_dst[i * heads + head];
      sum += grad_logits[edge * heads + head] * (raw > 0 ? 1 : slope);
    });
    grad_src[p] = sum;
  }
}

}  // namespace

// ---- host code: size the grid, launch, check -------------------------------------------------------------

void gat_logits(const HopEdges& hop, const GatScores& scores, float* logits, cudaStream_t stream) {
  if (hop.num_dst == 0) return;
  gat_logits_kernel<<<warps_for(hop, scores.heads), kThreadsPerBlock, 0, stream>>>(hop, scores.heads, scores.slope,
                                                                                   scores.src, scores.dst, logits);
  cuda_check(cudaGetLastError());
}

void gat_logits_backward(const HopEdges& hop, const GatScores& scores, const float* grad_logits,
                         const GatGradients& grads, const BackwardStream& on) {
  const std::int64_t heads = scores.heads;
  if (hop.num_src > 0) clear(grads.src, hop.num_src * heads, on);
  if (hop.num_dst == 0) return;
  auto* const kernel = on.is_ordered() ? &gat_logits_backward_kernel<false> : &gat_logits_backward_kernel<true>;
  kernel<<<warps_for(hop, heads), kThreadsPerBlock, 0, on.stream>>>(hop, heads, scores.slope, scores.src, scores.dst,
                                                                    grad_logits, grads.src, grads.dst);
  cuda_check(cudaGetLastError());
  if (!on.is_ordered()) return;
  gat_grad_src_kernel<<<blocks_for(hop.num_src * heads), kThreadsPerBlock, 0, on.stream>>>(
      hop, on.by_source, heads, scores.slope, scores.src, scores.dst, grad_logits, grads.src);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
