// models/rgat.h - graph attention network with maps for each relation.
#pragma once

#include <memory>

#include "models/model.h"

namespace salient {

/// A typed stack of PyG's HeteroConv(aggr="sum") of GATConv(add_self_loops=False): h_v' = sum over the relations r into
/// v's type of (b_r and, per head, the sum of a_vu W_r h_u over u in N_r(v)), a the softmax over them of
/// leaky_relu(<att_src, W_r h_u> + <att_dst, W_r h_v>), slope 0.2. Heads are side by side. Parameters
/// convs.<src___name___dst>.lin.weight, one W for both ends, att_src, att_dst [1, heads, channels] and bias. All layers
/// have `hidden_dim` columns, and the logits are a linear map `lin` of the last: as MLPerf's R-GAT. A type that no
/// relation leads to, which HeteroConv drops, keeps its rows.
/// Algorithm: Busbridge, Sherburn, Cavallo, Hammerla, "Relational graph attention networks" (2019), WIRGAT.
std::shared_ptr<Model> make_rgat(const ModelOptions& options);

}  // namespace salient
