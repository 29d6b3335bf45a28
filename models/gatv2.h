// models/gatv2.h - graph attention network whose ranking of neighbours depends on the node that attends.
#pragma once

#include <memory>

#include "models/conv_stack.h"

namespace salient {

/// Per head: l = W_l h + b_l; r = W_r h + b_r; a_ij = softmax over j of <att, leaky_relu(l_j + r_i)>, slope 0.2;
/// h_i' = sum of a_ij l_j, over j in N(i) and i itself, + bias. Heads are side by side. PyG's GATv2Conv: parameters
/// lin_l.weight, lin_l.bias, lin_r.weight, lin_r.bias, att [1, heads, channels], bias. With edge_dim, as of PyG's, the
/// leaky ReLU is of l_j + r_i + W_e e_ij, of the mean over i's other entries for i itself: lin_edge.weight.
class Gatv2Conv : public Conv {
 public:
  Gatv2Conv(std::int64_t in_dim, std::int64_t channels, std::int64_t heads, EdgeTerms edges);
  void initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) override;
  at::Tensor forward(const HopView& hop, const InputRows& x) override;

 private:
  EdgeTerms edges_;
  std::shared_ptr<Linear> lin_l_, lin_r_, lin_edge_;  ///< the last null without features of edges
  at::Tensor att_;
  at::Tensor bias_;  ///< starts at 0
};

/// A stack of GATv2Conv. Heads are as in make_gat().
/// Algorithm: Brody, Alon, Yahav, "How attentive are graph attention networks?" (ICLR 2022).
std::shared_ptr<Model> make_gatv2(const ModelOptions& options);

}  // namespace salient
