// models/kernels/gat_logits.h - GAT's logits: one per attention edge and head, from a score of either end.
#pragma once

#include "models/kernels/attention_bins.h"

namespace salient {

struct GatScores {
  std::int64_t heads;
  float slope;       ///< of the negative side, in (0, 1)
  const float* src;  ///< [num_src, heads]
  const float* dst;  ///< [num_dst, heads]
};

/// Gradients of the scores.
struct GatGradients {
  float* src;  ///< [num_src, heads]
  float* dst;  ///< [num_dst, heads]
};

/// logits[edge, k] = leaky_relu(src[j, k] + dst[i, k]). Oracle: attention_reference()
void gat_logits(const HopEdges& hop, const GatScores& scores, float* logits);
void gat_logits_backward(const HopEdges& hop, const GatScores& scores, const float* grad_logits,
                         const GatGradients& grads);

/// edge_softmax_backward(), then gat_logits_backward(). What `grad_weights` holds afterwards is not defined.
void gat_scores_backward(const HopEdges& hop, const GatScores& scores, const float* weights, float* grad_weights,
                         const GatGradients& grads);

/// Places the edges in the bins of `on`, if there are any.
void gat_logits(const HopEdges& hop, const GatScores& scores, float* logits, const LogitsStream& on);
void gat_logits_backward(const HopEdges& hop, const GatScores& scores, const float* grad_logits,
                         const GatGradients& grads, const BackwardStream& stream);
void gat_scores_backward(const HopEdges& hop, const GatScores& scores, const float* weights, float* grad_weights,
                         const GatGradients& grads, const BackwardStream& stream);

}  // namespace salient
