// models/kernels/gat_bins.h - the gradients of GAT's attention over edges that are binned by source.
#pragma once

#include "models/kernels/attention_bins.h"
#include "models/kernels/attention_sum.h"
#include "models/kernels/gat_logits.h"

namespace salient {

/// Whether gat_attention_backward_binned() can be taken, and gains by it. With narrow heads it does not: a run of the
/// workbench gained 1.62 times at 1 head of 256 channels, 1.01 at 4 of 32.
constexpr bool are_gat_bins_faster(Heads shape, std::int64_t num_src, std::int64_t num_entries) {
  return shape.channels >= 128 && shape.channels % 4 == 0 && are_bins_faster(num_src, num_entries, shape.width());
}

/// What the forward pass read and computed, and the gradient of its result.
struct GatAttention {
  GatScores scores;
  AttentionTerms terms;
  const float* grad_out;  ///< [num_dst, heads, channels]
  AttentionBins bins;     ///< of gat_logits()
};

struct GatAttentionGradients {
  AttentionSumGradients sum;  ///< weights: those of masked edges are not written
  GatGradients scores;
};

/// The gradients of attention_sum(edge_softmax(gat_logits(...)), h). hop.num_dst and hop.num_src are above 0; all rows
/// consist of aligned words of four values. Programmatic launches: see programmatic.cuh.
/// Cost: reads edges + num_src rows, writes num_src.   Oracle: attention_sum_backward() and gat_scores_backward() of
/// the host, one after the other
void gat_attention_backward_binned(const HopEdges& hop, const GatAttention& attention,
                                   const GatAttentionGradients& grads, CUstream_st* stream);

}  // namespace salient
