// models/gat.cpp - graph attention network.
#include "models/gat.h"

#include <ATen/ops/einsum.h>
#include <ATen/ops/empty.h>

#include "models/edge_weights.h"
#include "models/init.h"
#include "models/ops/edge_attention.h"
#include "models/ops/operators.h"

namespace salient {

GatConv::GatConv(std::int64_t in_dim, std::int64_t channels, std::int64_t heads, EdgeTerms edges)
    : heads_(heads), edges_(edges) {
  lin_ = register_module("lin", std::make_shared<Linear>(in_dim, heads * channels, Bias::kNo, PygInit::kGlorot));
  att_src_ = register_parameter("att_src", at::empty({1, heads, channels}, at::kFloat));
  att_dst_ = register_parameter("att_dst", at::empty({1, heads, channels}, at::kFloat));
  if (edges.dim == 0) return;
  lin_edge_ =
      register_module("lin_edge", std::make_shared<Linear>(edges.dim, heads * channels, Bias::kNo, PygInit::kGlorot));
  att_edge_ = register_parameter("att_edge", at::empty({1, heads, channels}, at::kFloat));
}

void GatConv::initialise(const std::string& name, InitScheme, std::uint32_t seed) {
  const double bound = glorot_bound(att_src_.size(2), att_src_.size(1));
  fill_uniform(att_src_.detach(), name + ".att_src", bound, seed);
  fill_uniform(att_dst_.detach(), name + ".att_dst", bound, seed);
  if (edges_.dim > 0) fill_uniform(att_edge_.detach(), name + ".att_edge", bound, seed);
}

at::Tensor GatConv::forward(const HopView& hop, const InputRows& x) {
  const at::Tensor z = lin_->forward(x.first(hop.num_src));
  const auto score = [&](const at::Tensor& rows, const at::Tensor& att) {
    return at::einsum("nhc,hc->nh", {rows.view({rows.size(0), heads_, att.size(2)}), att.squeeze(0)});
  };
  const at::Tensor of_sources = score(z, att_src_), of_rows = score(z.narrow(0, 0, hop.num_dst), att_dst_);
  const GradientOrder order = numerics().gradient_order;
  if (!edges_.any()) return attention(hop, z, of_sources, of_rows, order);
  EntryTerms terms;
  if (edges_.dim > 0) terms.features = score(lin_edge_->forward(edge_features_of(hop, edges_.dim)), att_edge_);
  if (edges_.are_weights()) terms.weights = log_weights_of(hop);
  return attention_of_edges(hop, z, of_sources, of_rows, terms, order);
}

std::shared_ptr<Model> make_gat(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [heads = options.heads, edges = EdgeTerms(options)](const ConvStack::Widths& w) {
        const int num_heads = w.is_hidden ? heads : 1;
        return std::make_shared<GatConv>(w.in_dim, w.out_dim / num_heads, num_heads, edges);
      });
}

}  // namespace salient
