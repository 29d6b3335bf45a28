// models/kernels/gat_logits.cu - GAT's logits on the device.
//
// Work split  a warp per (row, head), lanes over the row's edges; half a warp from the weights' gradients to the
//             scores'.
// Access      scores and logits are scalars, read through the L1 cache. Where their gradient takes bins, the same pass
//             also fills the bins.
// Sync        warp shuffles; atomics for the gradient of the sources' scores, or, where the edges by source are given,
//             a second kernel with a thread per (source, head).
#include "models/kernels/attention_bins.cuh"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gat_scores.cuh"

namespace salient {
namespace {

// ---- device code -----------------------------------------------------------------------------------------

/// More than six parameters: each array is one of its own, for __restrict__, see attention_edges.cuh.
template <bool kPlaces>
__global__ void __launch_bounds__(kThreadsPerBlock)
    gat_logits_kernel(HopEdges hop, AttentionBins bins, std::int64_t heads, float slope,
                      const float* __restrict__ score_src, const float* __restrict__ score_dst,
                      float* __restrict__ logits) {
  for_each_edge_group(hop, heads, 5, [&](const EdgeGroup& at) {
    const float own = score_dst[at.row * heads + at.head];
    for (std::int64_t e = at.first + at.lane; e <= at.last; e += kWarp) {
      const std::int64_t j = source_of(hop, at, e);
      if constexpr (kPlaces)
        if (j >= 0 && e != at.last && at.head == 0) place_edge(bins, j, at.row, e);
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

__global__ void __launch_bounds__(kThreadsPerBlock)
    gat_scores_backward_kernel(HopEdges hop, GatScores scores, const float* weights, const float* grad_weights,
                               GatGradients grads) {
  add_score_gradients({hop, scores, weights, grad_weights}, grads, gridDim.x);
}

}  // namespace

// ---- host code: size the grid, launch, check -------------------------------------------------------------

void gat_logits(const HopEdges& hop, const GatScores& scores, float* logits, const LogitsStream& on) {
  if (hop.num_dst == 0) return;
  if (on.bins.are_taken()) clear_bins(on.bins, hop.num_src, on.stream);
  auto* const kernel = on.bins.are_taken() ? &gat_logits_kernel<true> : &gat_logits_kernel<false>;
  kernel<<<warps_for(hop, scores.heads), kThreadsPerBlock, 0, on.stream>>>(hop, on.bins, scores.heads, scores.slope,
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

void gat_scores_backward(const HopEdges& hop, const GatScores& scores, const float* weights, float* grad_weights,
                         const GatGradients& grads, const BackwardStream& on) {
  if (on.is_ordered() || hop.num_dst == 0) {
    edge_softmax_backward(hop, scores.heads, weights, grad_weights, on);
    return gat_logits_backward(hop, scores, grad_weights, grads, on);
  }
  clear(grads.src, hop.num_src * scores.heads, on);
  gat_scores_backward_kernel<<<blocks_for_scores(hop, scores.heads), kThreadsPerBlock, 0, on>>>(hop, scores, weights,
                                                                                                grad_weights, grads);
  cuda_check(cudaGetLastError());
}

}  // namespace salient
