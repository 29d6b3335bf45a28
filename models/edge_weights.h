// models/edge_weights.h - the weights of edges that a hop carries, as factors of sums and of attention.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"
#include "models/numerics.h"
#include "models/ops/edge_attention.h"

namespace salient {

/// HopView::edge_weight, [E] f32; of a hop without entries none.
/// @throws Error{kInternal} where a hop with entries has no such weights
at::Tensor edge_weights_of(const HopView& hop);

/// sum(w_ij x_j) / sum(w_ij) over the entries j of row i, 0 where the weights sum to 0. Differentiable in x.
/// @param x  as of weighted_sum()   @return  [num_dst, width] f32
at::Tensor mean_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order);

/// sum(w_e x_e) / sum(w_e) over the entries e of each row, likewise. Differentiable in x.
/// @param x  [E, width] f16 or f32 of the entries   @return  [num_dst, width] f32
at::Tensor mean_of_entries_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order);

/// (sum(w_ij x_j) + x_i) / (sum(w_ij) + 1): GCN's mean over a row and its node. Likewise.
at::Tensor row_mean_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order);

/// GCN's sum of w_ij x_j / sqrt(d_i d_j), d being the weight of the whole row of a node and of its self loop, 1 where
/// it has none: PyG's gcn_norm(edge_weight=...). Entries of a sampled row count (entries of the whole row) / (kept)
/// times. A node whose d is 0 has and gives 0.
/// Oracle: PyG, tests/models/golden/gcn_weights.safetensors
at::Tensor symmetric_sum_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order);

/// Of the hop's weights: logarithms. An entry of weight 0 is never attended to.
LogWeights log_weights_of(const HopView& hop);

}  // namespace salient
