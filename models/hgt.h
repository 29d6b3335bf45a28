// models/hgt.h - heterogeneous graph transformer.
#pragma once

#include <memory>

#include "models/model.h"

namespace salient {

/// A typed stack of PyG's HGTConv. Of the node types T: k, q, v = kqv_lin.lins.T of h, in that order. Per head of C
/// channels and relation r: a_vu = softmax over the entries u of v of all relations of <q_v, K_r k_u> p_r / sqrt(C);
/// g_v = sum of a_vu V_r v_u. With all heads side by side h_v' = s A_T(gelu(g_v)) + (1 - s) h_v, s = sigmoid(skip.T).
/// Parameters kqv_lin.lins.T, out_lin.lins.T (A), k_rel.weight and v_rel.weight [heads * relations, C, C], head h of
/// relation r being row h * relations + r, p_rel.src__name__dst [1, heads], skip.T [1]. All layers have `hidden_dim`
/// columns, and the logits are a linear map `lin` of the last. The equation holds for a type that no relation leads to,
/// too, whose g is 0; HGTConv drops it.
/// Algorithm: Hu, Dong, Wang, Sun, "Heterogeneous graph transformer" (WWW 2020).
std::shared_ptr<Model> make_hgt(const ModelOptions& options);

}  // namespace salient
