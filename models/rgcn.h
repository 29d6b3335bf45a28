// models/rgcn.h - relational graph convolutional network.
#pragma once

#include <memory>

#include "models/model.h"

namespace salient {

/// A typed stack of PyG's RGCNConv: h_v' = W_0 h_v + b + sum over the relations r of W_r mean(h_u : u in N_r(v)).
/// Parameters weight [relations, in, out], root [in, out], bias; with bases weight [bases, in, out] and comp
/// [relations, bases]: W_r is the sum of comp[r, b] weight[b]; with blocks weight [relations, blocks, in / blocks,
/// out / blocks], the blocks on the diagonal, but for a layer that gives the logits, whose weights are whole. Relations
/// have the numbers of the data set.
/// Algorithm: Schlichtkrull, Kipf, Bloem, van den Berg, Titov, Welling, "Modeling relational data with graph
///            convolutional networks" (ESWC 2018).
std::shared_ptr<Model> make_rgcn(const ModelOptions& options);

}  // namespace salient
