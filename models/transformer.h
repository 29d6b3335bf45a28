// models/transformer.h - graph transformer: neighbours weighted by products of queries and keys.
#pragma once

#include <memory>

#include "models/model.h"

namespace salient {

/// A stack of PyG's TransformerConv, without beta. Per head of C channels: q = W_q h + b_q; k and v likewise;
/// a_ij = softmax over j of <q_i, k_j> / sqrt(C); h_i' = sum of a_ij v_j over j in N(i), beside it that of the other
/// heads, + W_s h_i + b_s. Parameters lin_query, lin_key, lin_value, lin_skip. Heads are as in make_gat().
/// Algorithm: Shi, Huang, Feng, Zhong, Wang, Sun, "Masked label prediction" (IJCAI 2021).
std::shared_ptr<Model> make_transformer(const ModelOptions& options);

}  // namespace salient
