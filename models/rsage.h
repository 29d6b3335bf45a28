// models/rsage.h - GraphSAGE with maps for each relation.
#pragma once

#include <memory>

#include "models/model.h"

namespace salient {

/// A typed stack of PyG's HeteroConv(aggr="sum") of SAGEConv: h_v' = sum over the relations r into v's type of
/// (L_r mean(h_u : u in N_r(v)) + b_r + R_r h_v). Parameters convs.<src___name___dst>.lin_l.weight, lin_l.bias and
/// lin_r.weight. A type that no relation leads to, which HeteroConv drops, keeps its rows in hidden layers.
/// Algorithm: Hamilton, Ying, Leskovec (NeurIPS 2017), by relation.
std::shared_ptr<Model> make_rsage(const ModelOptions& options);

}  // namespace salient
