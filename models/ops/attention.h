// models/ops/attention.h - softmax over a node's entries and the sum it weights; plain pointers, no torch, no CUDA header.
//
// Row i attends to its entries j != i, and to i itself once: PyG's attention layers add self loops so. Each row has one
// slot per entry, then one for itself: slots [indptr[i] + i, indptr[i + 1] + i + 1). The slot of an entry j == i stays
// empty: its logit is minus infinity, its weight 0. Arrays over slots are [num_slots, heads] f32; that is all that is
// kept per edge.
#pragma once

#include <cstdint>

#include "models/ops/segment.h"

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
// threads; on the device the sums over a source's edges are made by atomics, in any order.

/// logits[slot, k] = leaky_relu(score_src[j, k] + score_dst[i, k]).
/// @param score_src [num_src, heads]   @param score_dst [num_dst, heads]   @param slope  of the negative side, in (0, 1)
void gat_logits(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src, const float* score_dst,
                float* logits);
/// grad_src [num_src, heads], grad_dst [num_dst, heads], from the gradient of the logits.
void gat_logits_backward(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src,
                         const float* score_dst, const float* grad_logits, float* grad_src, float* grad_dst);

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
                         CUstream_st* stream);
void slot_softmax(const HopEdges& hop, std::int64_t heads, float* slots, CUstream_st* stream);
void slot_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad,
                           CUstream_st* stream);
void slot_sum(const HopEdges& hop, Heads shape, const float* weights, const float* h, float* out, CUstream_st* stream);
void slot_sum_backward(const HopEdges& hop, Heads shape, const float* weights, const float* h, const float* grad_out,
                       float* grad_weights, float* grad_h, CUstream_st* stream);

/// The oracle of all of it, in double precision: out, and the gradients for a given grad_out, of
/// slot_sum(slot_softmax(gat_logits(...)), h).
struct AttentionReference {
  std::vector<double> weights, out, grad_h, grad_src, grad_dst;
};
AttentionReference attention_reference(const HopEdges& hop, Heads shape, float slope, const float* score_src,
                                       const float* score_dst, const float* h, const float* grad_out);

}  // namespace salient
