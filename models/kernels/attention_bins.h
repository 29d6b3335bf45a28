// models/kernels/attention_bins.h - the gradient of attention's weighted sum over entries that are binned by source.
#pragma once

#include "models/kernels/attention_sum.h"
#include "models/kernels/source_bins.h"

namespace salient {

/// Whether attention_sum_backward() gains by bins. With narrow heads it does not: a run of the workbench gained 1.62
/// times at 1 head of 256 channels, 1.01 at 4 of 32.
constexpr bool are_attention_bins_faster(Heads shape, std::int64_t num_src, std::int64_t num_edges) {
  return shape.channels >= 128 && are_bins_faster(num_src, num_edges, shape.width());
}

/// attention_sum_backward() by way of `on.bins`, which have room for rows and positions. hop.num_dst is above 0.
void attention_sum_backward_binned(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                                   const AttentionSumGradients& grads, const BackwardStream& on);

}  // namespace salient
