// models/kernels/gat_logits.cpp - see gat_logits.h.
#include "models/kernels/gat_logits.h"

#include "models/kernels/edge_softmax.h"
#include "models/kernels/parallel.h"

namespace salient {

void gat_logits(const HopEdges& hop, const GatScores& scores, float* logits) {
  const std::int64_t heads = scores.heads;
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k)
      for_each_edge(
          hop, i,
          [&](std::int64_t j, std::int64_t edge) {
            const float raw = scores.src[j * heads + k] + scores.dst[i * heads + k];
            logits[edge * heads + k] = raw > 0 ? raw : scores.slope * raw;
          },
          [&](std::int64_t edge) { logits[edge * heads + k] = kMaskedLogit; });
  });
}

void gat_logits_backward(const HopEdges& hop, const GatScores& scores, const float* grad_logits,
                         const GatGradients& grads) {
  const std::int64_t heads = scores.heads;
  const auto grad_of = [&](std::int64_t i, std::int64_t j, std::int64_t edge, std::int64_t k) {
    const float grad = grad_logits[edge * heads + k];
    return scores.src[j * heads + k] + scores.dst[i * heads + k] > 0 ? grad : scores.slope * grad;
  };
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      float sum = 0;
      const auto add = [&](std::int64_t j, std::int64_t edge) { sum += grad_of(i, j, edge, k); };
      for_each_edge(hop, i, add, [](std::int64_t) {});
      grads.dst[i * heads + k] = sum;
    }
  });
  const TransposedHop by_source = transpose(hop);
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    for (std::int64_t k = 0; k < heads; ++k) {
      float sum = 0;
      const auto add = [&](std::int64_t i, std::int64_t edge) { sum += grad_of(i, j, edge, k); };
      for_each_edge_of_source(hop, by_source, j, add);
      grads.src[j * heads + k] = sum;
    }
  });
}

void gat_scores_backward(const HopEdges& hop, const GatScores& scores, const float* weights, float* grad_weights,
                         const GatGradients& grads) {
  edge_softmax_backward(hop, scores.heads, weights, grad_weights);
  gat_logits_backward(hop, scores, grad_weights, grads);
}

}  // namespace salient
