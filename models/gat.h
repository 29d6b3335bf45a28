// models/gat.h - graph attention network.
#pragma once

#include <memory>

#include "models/conv_stack.h"

namespace salient {

/// Per head: z = W h; a_ij = softmax over j of leaky_relu(<att_src, z_j> + <att_dst, z_i>), slope 0.2;
/// h_i' = sum of a_ij z_j, over j in N(i) and i itself. Heads are side by side. PyG's GATConv(bias=False): parameters
/// lin.weight, att_src, att_dst [1, heads, channels]. With edge_dim, as of PyG's, the score has <att_edge, W_e e_ij>
/// beside, of the mean of those of i's other entries for i itself: lin_edge.weight, att_edge.
class GatConv : public Conv {
 public:
  GatConv(std::int64_t in_dim, std::int64_t channels, std::int64_t heads, EdgeTerms edges);
  void initialise(const std::string& name, InitScheme scheme, std::uint32_t seed) override;
  at::Tensor forward(const HopView& hop, const InputRows& x) override;

 private:
  std::int64_t heads_;
  EdgeTerms edges_;
  std::shared_ptr<Linear> lin_, lin_edge_;  ///< the second null without features of edges
  at::Tensor att_src_, att_dst_, att_edge_;
};

/// A stack of GATConv. `hidden_dim` is the width of all heads together; the layer that gives the logits has one head.
/// Algorithm: Veličković, Cucurull, Casanova, Romero, Liò, Bengio, "Graph attention networks" (ICLR 2018), as in
///            SALIENT's artifact, which has one head.
std::shared_ptr<Model> make_gat(const ModelOptions& options);

}  // namespace salient
