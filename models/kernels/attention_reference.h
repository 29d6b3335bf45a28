// models/kernels/attention_reference.h - the oracles of attention, in double precision.
#pragma once

#include <vector>

#include "models/kernels/gat_logits.h"
#include "models/kernels/gatv2_logits.h"

namespace salient {

/// out = attention_sum(edge_softmax(gat_logits(...)), h), and the gradients for a given grad_out.
struct AttentionReference {
  std::vector<double> weights, out, grad_h, grad_src, grad_dst;
};
/// @param h  [num_src, heads, channels]   @param grad_out  [num_dst, heads, channels]
AttentionReference attention_reference(const HopEdges& hop, const GatScores& scores, std::int64_t channels,
                                       const float* h, const float* grad_out);

/// The same for GATv2's logits alone; grad_att [heads, channels].
struct Gatv2Reference {
  std::vector<double> logits, grad_src, grad_dst, grad_att;
};
Gatv2Reference gatv2_reference(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits);

}  // namespace salient
