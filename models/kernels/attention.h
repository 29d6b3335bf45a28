// models/kernels/attention.h - softmax over a node's entries and the sum it weights; plain pointers, no torch, no CUDA header.
//
// Row i attends to its entries j != i, and to i itself once: PyG's attention layers add self loops so. Each row has one
// slot per entry, then one for itself: slots [indptr[i] + i, indptr[i + 1] + i + 1). The slot of an entry j == i stays
// empty: its logit is minus infinity, its weight 0. Arrays over slots are [num_slots, heads] f32; that is all that is
// kept per edge.
#pragma once

#include <cstdint>

#include "models/kernels/segment.h"

namespace salient {

/// Rows of `heads` times `channels` columns.
struct Heads {
  std::int64_t heads;
  std::int64_t channels;
  std::int64_t width() const { return heads * channels; }
};

/// Slots of a hop with `num_edges` entries.
inline std::int64_t num_slots(std::int64_t num_edges, std::int64_t num_dst) { return num_edges + num_dst; }

// Each of these functions takes host memory and runs on the caller's oneTBB arena; with a stream as the last argument it
// takes device memory, enqueues and returns. Results are overwritten. On the host they do not depend on the number of
// threads; on the device the sums over a source's edges are made by atomics, in any order, unless the edges by source are given.

/// logits[slot, k] = leaky_relu(score_src[j, k] + score_dst[i, k]).
/// @param score_src [num_src, heads]   @param score_dst [num_dst, heads]   @param slope  of the negative side, in (0, 1)
void gat_logits(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src, const float* score_dst,
                float* logits);
/// grad_src [num_src, heads], grad_dst [num_dst, heads], from the gradient of the logits.
void gat_logits_backward(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src,
                         const float* score_dst, const float* grad_logits, float* grad_src, float* grad_dst);

/// GATv2: logits[slot, k] = <att[k, :], leaky_relu(z_src[j, k, :] + z_dst[i, k, :])>.
/// @param z_src [num_src, heads, channels]   @param z_dst [num_dst, heads, channels]   @param att [heads, channels]
/// Cost: reads (edges + num_dst) rows of z_src.
void gatv2_logits(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                  const float* att, float* logits);

/// Rows whose terms of att's gradient are added up as one part, so that the sum has a fixed order.
inline constexpr std::int64_t kRowsPerPart = 16;
inline std::int64_t num_parts(std::int64_t num_dst) { return (num_dst + kRowsPerPart - 1) / kRowsPerPart; }

/// grad_src [num_src, heads, channels], grad_dst [num_dst, heads, channels] and, to be summed over its first dimension,
/// grad_att [num_parts(num_dst), heads, channels], from the gradient of the logits.
void gatv2_logits_backward(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                           const float* att, const float* grad_logits, float* grad_src, float* grad_dst,
                           float* grad_att);

/// In place: logits become weights, exp(logit) / sum over the row, per head. The largest logit is subtracted first.
void slot_softmax(const HopEdges& hop, std::int64_t heads, float* slots);
/// In place: the gradient of the weights becomes that of the logits.
void slot_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad);

/// out[i, k, :] = sum of weights[slot, k] * h[j, k, :].
/// @param h [num_src, heads, channels]   @param out [num_dst, heads, channels]
/// Cost: reads (edges + num_dst) rows of h, writes num_dst rows.
void slot_sum(const HopEdges& hop, Heads shape, const float* weights, const float* h, float* out);
/// grad_weights[slot, k] = <grad_out[i, k, :], h[j, k, :]>; grad_h [num_src, heads, channels].
void slot_sum_backward(const HopEdges& hop, Heads shape, const float* weights, const float* h, const float* grad_out,
                       float* grad_weights, float* grad_h);

void gat_logits(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src, const float* score_dst,
                float* logits, CUstream_st* stream);
void gat_logits_backward(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src,
                         const float* score_dst, const float* grad_logits, float* grad_src, float* grad_dst,
                         const BackwardStream& stream);
void gatv2_logits(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                  const float* att, float* logits, CUstream_st* stream);
void gatv2_logits_backward(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                           const float* att, const float* grad_logits, float* grad_src, float* grad_dst,
                           float* grad_att, const BackwardStream& stream);
void slot_softmax(const HopEdges& hop, std::int64_t heads, float* slots, CUstream_st* stream);
void slot_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad,
                           CUstream_st* stream);
void slot_sum(const HopEdges& hop, Heads shape, const float* weights, const float* h, float* out, CUstream_st* stream);
void slot_sum_backward(const HopEdges& hop, Heads shape, const float* weights, const float* h, const float* grad_out,
                       float* grad_weights, float* grad_h, const BackwardStream& stream);

/// The oracle of all of it, in double precision: out, and the gradients for a given grad_out, of
/// slot_sum(slot_softmax(gat_logits(...)), h).
struct AttentionReference {
  std::vector<double> weights, out, grad_h, grad_src, grad_dst;
};
AttentionReference attention_reference(const HopEdges& hop, Heads shape, float slope, const float* score_src,
                                       const float* score_dst, const float* h, const float* grad_out);

/// The same for GATv2's logits alone; grad_att [heads, channels].
struct Gatv2Reference {
  std::vector<double> logits, grad_src, grad_dst, grad_att;
};
Gatv2Reference gatv2_reference(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                               const float* att, const float* grad_logits);

}  // namespace salient
