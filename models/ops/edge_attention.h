// models/ops/edge_attention.h - attention that knows of the features and weights of edges, as differentiable functions.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"
#include "models/numerics.h"

namespace salient {

inline constexpr double kNeverLogit = -1e30;  ///< exp() of it less any logit is 0

/// What attention adds to its logits, so that a_ij is in proportion to w_ij exp(score_ij). Without gradients.
struct LogWeights {
  at::Tensor of_entries{};  ///< [E, 1] f32; of weight 0 kNeverLogit. Undefined: all weights are 1
  at::Tensor of_self{};     ///< [num_dst, 1] of the mean weight of the row's other entries, 0 where they have none
};

/// What an entry adds to what its score is of; rows themselves have the mean of their other entries.
struct EntryTerms {
  at::Tensor features{};  ///< [E, heads], or [E, heads * channels] before they are scored; undefined: nothing
  LogWeights weights{};   ///< behind the leaky ReLU
};

/// The entries of a hop as rows of their own, in their order.
struct EntryRows {
  HopView by_row;  ///< entry e is a source, of the row that it is in
  at::Tensor row;  ///< int32 [E] the destination of each entry

  /// Ordering: on a device the current stream's work, without a wait for it.
  explicit EntryRows(const HopView& hop);
};

/// The mean over the entries j != i of row i, 0 where there is none: what PyG's attention layers take for the edge from
/// i to itself (add_self_loops of fill_value "mean"). Differentiable.
///
/// @param edges  [E, width] f32   @return  [num_dst, width]
at::Tensor mean_of_others(const HopView& hop, const EntryRows& entries, const at::Tensor& edges, GradientOrder order);

/// out[i, k, :] = sum of a_ijk * value[j, k, :] over the entries j != i of row i, and i itself, where a is the softmax
/// of their logits. Differentiable in all three.
///
/// @param value    [num_src, heads * channels] f32, on the hop's device
/// @param logits   [E, heads] f32 of the entries   @param of_self  [num_dst, heads] f32 of the rows themselves
/// @return         [num_dst, heads * channels] f32
/// Cost: two rows are made for each entry.
/// Oracle: PyG's layers, tests/models/golden/gatv2_edges.safetensors
at::Tensor softmax_sum(const HopView& hop, const EntryRows& entries, const at::Tensor& value, const at::Tensor& logits,
                       const at::Tensor& of_self, GradientOrder order);

/// As attention() of operators.h, of leaky_relu(score_src[j, k] + score_dst[i, k] + score_edge[e, k]).
/// @param terms  score_edge, [E, heads] f32; i itself has mean_of_others() of them
at::Tensor attention_of_edges(const HopView& hop, const at::Tensor& z, const at::Tensor& score_src,
                              const at::Tensor& score_dst, const EntryTerms& terms, GradientOrder order);

/// As attention_v2() of operators.h, of <att[k, :], leaky_relu(z_src[j, k, :] + z_dst[i, k, :] + z_edge[e, k, :])>.
/// @param terms  z_edge, [E, heads * channels] f32; i itself has mean_of_others() of them
at::Tensor attention_v2_of_edges(const HopView& hop, const at::Tensor& z_src, const at::Tensor& z_dst,
                                 const EntryTerms& terms, const at::Tensor& att, GradientOrder order);

}  // namespace salient
