// models/kernels/attention_sum.h - the sum of neighbours' rows that attention weights.
#pragma once

#include "models/kernels/attention_edges.h"

namespace salient {

struct AttentionTerms {
  Heads shape;
  const float* weights;  ///< [num_attention_edges, heads]
  const float* h;        ///< [num_src, heads, channels]
};

/// Gradients of the terms.
struct AttentionSumGradients {
  float* weights;  ///< [num_attention_edges, heads]
  float* h;        ///< [num_src, heads, channels]
};

/// out[i, k, :] = sum of weights[edge, k] * h[j, k, :].
/// @param out  [num_dst, heads, channels]
/// Cost: reads (entries + num_dst) rows of h, writes num_dst rows.   Oracle: attention_reference()
void attention_sum(const HopEdges& hop, const AttentionTerms& terms, float* out);
/// @param grad_out  [num_dst, heads, channels]
void attention_sum_backward(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                            const AttentionSumGradients& grads);

void attention_sum(const HopEdges& hop, const AttentionTerms& terms, float* out, CUstream_st* stream);
void attention_sum_backward(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                            const AttentionSumGradients& grads, const BackwardStream& stream);

}  // namespace salient
