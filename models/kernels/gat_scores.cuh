// models/kernels/gat_scores.cuh - from the gradients of GAT's weights to those of its scores, softmax and all.
#pragma once

#include "models/kernels/attention_edges.cuh"
#include "models/kernels/gat_logits.h"
#include "models/kernels/programmatic.cuh"

namespace salient {

/// An edge on the way; what it adds is 0 for masked edges.
struct ScoreTerm {
  std::int64_t source;  ///< -1 for a masked edge
  float weight, slope;
};

constexpr int kLogScoreLanes = 4, kScoreLanes = 1 << kLogScoreLanes;  // sampled rows have few edges

/// What of a row and head's edges is read before the kernel that writes `grad_weights` is done.
struct ScoreEdges {
  const HopEdges& hop;
  const GatScores& scores;
  const float* weights;
  const float* grad_weights;

  __device__ ScoreTerm term(const EdgeGroup& at, float own, std::int64_t edge) const {
    const std::int64_t j = edge <= at.last ? source_of(hop, at, edge) : -1;
    if (j < 0) return {-1, 0, 0};
    const std::int64_t heads = scores.heads;
    return {j, __ldg(weights + edge * heads + at.head),
            __ldg(scores.src + j * heads + at.head) + own > 0 ? 1 : scores.slope};
  }
  /// Behind wait_for_kernel_before().
  __device__ float gradient(const EdgeGroup& at, const ScoreTerm& term, std::int64_t edge) const {
    return term.source < 0 ? 0 : fresh(grad_weights + edge * scores.heads + at.head);
  }
};

__device__ inline float sum_of_score_group(float value) {
  const unsigned group_mask = mask_of(RowGroup{kLogScoreLanes});
  for (int step = kScoreLanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(group_mask, value, step);
  return value;
}

/// The part of the first `num_blocks` blocks: a group of lanes per (row, head). The sources' gradients are 0 before.
__device__ inline void add_score_gradients(const ScoreEdges& edges, const GatGradients& grads, unsigned num_blocks) {
  const std::int64_t heads = edges.scores.heads, stride = std::int64_t{num_blocks} * kThreadsPerBlock / kScoreLanes;
  const int lane = static_cast<int>(threadIdx.x) & (kScoreLanes - 1);
  bool is_waiting = true;
  for (std::int64_t p = (std::int64_t{blockIdx.x} * kThreadsPerBlock + threadIdx.x) / kScoreLanes;
       p < edges.hop.num_dst * heads; p += stride) {
    const EdgeGroup at = edge_group_of(edges.hop, heads, p, lane);
    const float own = __ldg(edges.scores.dst + p);
    const std::int64_t first_edge = at.first + lane;
    const ScoreTerm first = edges.term(at, own, first_edge);
    if (is_waiting) wait_for_kernel_before(), is_waiting = false;
    const float first_grad = edges.gradient(at, first, first_edge);
    float mean = first.weight * first_grad, sum = 0;
    for (std::int64_t e = first_edge + kScoreLanes; e <= at.last; e += kScoreLanes) {
      const ScoreTerm term = edges.term(at, own, e);
      mean += term.weight * edges.gradient(at, term, e);
    }
    mean = sum_of_score_group(mean);
    const auto add = [&](const ScoreTerm& term, float grad_weight) {
      const float grad = term.weight * (grad_weight - mean) * term.slope;
      if (term.source >= 0) atomicAdd(grads.src + term.source * heads + at.head, grad);
      sum += grad;
    };
    add(first, first_grad);
    for (std::int64_t e = first_edge + kScoreLanes; e <= at.last; e += kScoreLanes) {
      const ScoreTerm term = edges.term(at, own, e);
      add(term, edges.gradient(at, term, e));
    }
    sum = sum_of_score_group(sum);
    if (lane == 0) grads.dst[p] = sum;
  }
}

// ---- host code -------------------------------------------------------------------------------------------

inline unsigned blocks_for_scores(const HopEdges& hop, std::int64_t heads) {
  return blocks_for(hop.num_dst * heads << kLogScoreLanes);
}

}  // namespace salient
