// models/kernels/gatv2_logits.h - GATv2's logits: one per attention edge and head, from the rows of both ends.
#pragma once

#include "models/kernels/attention_bins.h"

namespace salient {

struct Gatv2Inputs {
  Heads shape;
  float slope;         ///< of the negative side, in (0, 1)
  const float* z_src;  ///< [num_src, heads, channels]
  const float* z_dst;  ///< [num_dst, heads, channels]
  const float* att;    ///< [heads, channels]
};

/// Rows whose terms of att's gradient are added up as one part, so that the sum has a fixed order.
inline constexpr std::int64_t kRowsPerPart = 16;
inline std::int64_t num_parts(std::int64_t num_dst) { return (num_dst + kRowsPerPart - 1) / kRowsPerPart; }

struct Gatv2Gradients {
  float* z_src;  ///< [num_src, heads, channels]
  float* z_dst;  ///< [num_dst, heads, channels]
  float* att;    ///< [num_parts(num_dst), heads, channels], to be summed over its first dimension
};

/// logits[edge, k] = <att[k, :], leaky_relu(z_src[j, k, :] + z_dst[i, k, :])>.
/// Cost: reads (entries + num_dst) rows of z_src.   Oracle: gatv2_reference()
void gatv2_logits(const HopEdges& hop, const Gatv2Inputs& in, float* logits);
void gatv2_logits_backward(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits,
                           const Gatv2Gradients& grads);

/// With bins in `on`, places the edges and keeps the signs of z_src + z_dst: a bit for each of four values, whether it
/// is above 0. Those of masked edges are not written. All rows then consist of aligned words of four values.
void gatv2_logits(const HopEdges& hop, const Gatv2Inputs& in, float* logits, const LogitsStream& on);
void gatv2_logits_backward(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits,
                           const Gatv2Gradients& grads, const BackwardStream& stream);

}  // namespace salient
