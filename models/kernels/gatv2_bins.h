// models/kernels/gatv2_bins.h - the gradients of GATv2's attention over edges that are binned by source, in one pass.
#pragma once

#include "models/kernels/attention_bins.h"
#include "models/kernels/gatv2_logits.h"

namespace salient {

/// Whether gatv2_attention_backward_binned() can be taken, and gains by it.
constexpr bool are_gatv2_bins_faster(Heads shape, std::int64_t num_src, std::int64_t num_entries) {
  return shape.channels % 4 == 0 && shape.channels <= 256 && are_bins_faster(num_src, num_entries, shape.width());
}

/// Results of the forward pass, and the gradient of the last one.
struct Gatv2Attention {
  const float* weights;       ///< [num_attention_edges, heads]
  const float* out;           ///< [num_dst, heads, channels], the sums of weights * z_src
  const float* grad_out;      ///< [num_dst, heads, channels]
  AttentionBins bins;         ///< of gatv2_logits(), as the signs
  const std::uint8_t* signs;  ///< [num_attention_edges, heads * channels / 4]
};

/// Parts of att's gradient, to which blocks add in any order.
inline constexpr std::int64_t kGatv2AttParts = 64;

/// Memory of gatv2_attention_backward_binned(); need not be initialised.
struct Gatv2Workspace {
  float* row_dots;     ///< [num_dst, heads]
  float* grad_logits;  ///< [num_attention_edges, heads]
};

/// The gradients of attention_sum(edge_softmax(gatv2_logits(...)), z_src), z_src's through logits and sum together.
/// hop.num_dst and hop.num_src are above 0; all rows consist of aligned words of four values. Programmatic launches:
/// see programmatic.cuh.
/// @param grads  att: [kGatv2AttParts, heads, channels], to be summed over its first dimension
/// Cost: reads edges + num_src rows, writes num_src.   Oracle: attention_sum_backward(), edge_softmax_backward() and
/// gatv2_logits_backward() of the host, one after the other
void gatv2_attention_backward_binned(const HopEdges& hop, const Gatv2Inputs& in, const Gatv2Attention& attention,
                                     const Gatv2Gradients& grads, const Gatv2Workspace& work, CUstream_st* stream);

}  // namespace salient
