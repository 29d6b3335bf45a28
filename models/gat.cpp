// models/gat.cpp - graph attention network.
#include "models/gat.h"

#include <ATen/ops/einsum.h>
#include <ATen/ops/empty.h>

#include "models/init.h"
#include "models/ops/edge_attention.h"
#include "models/ops/operators.h"

namespace salient {

GatConv::GatConv(std::int64_t in_dim, std::int64_t channels, std::int64_t heads, std::int64_t edge_dim)
    : heads_(heads), edge_dim_(edge_dim) {
  lin_ = register_module("lin", std::make_shared<Linear>(in_dim, heads * channels, Bias::kNo, PygInit::kGlorot));
  att_src_ = register_parameter("att_src", at::empty({1, heads, channels}, at::kFloat));
  att_dst_ = register_parameter("att_dst", at::empty({1, heads, channels}, at::kFloat));
  if (edge_dim == 0) return;
  lin_edge_ =
      register_module("lin_edge", std::make_shared<Linear>(edge_dim, heads * channels, Bias::kNo, PygInit::kGlorot));
  att_edge_ = register_parameter("att_edge", at::empty({1, heads, channels}, at::kFloat));
}

void GatConv::initialise(const std::string& name, InitScheme, std::uint32_t seed) {
  const double bound = glorot_bound(att_src_.size(2), att_src_.size(1));
  fill_uniform(att_src_.detach(), name + ".att_src", bound, seed);
  fill_uniform(att_dst_.detach(), name + ".att_dst", bound, seed);
  if (edge_dim_ > 0) fill_uniform(att_edge_.detach(), name + ".att_edge", bound, seed);
}

at::Tensor GatConv::forward(const HopView& hop, const InputRows& x) {
  const at::Tensor z = lin_->forward(x.first(hop.num_src));
  const auto score = [&](const at::Tensor& rows, const at::Tensor& att) {
    return at::einsum("nhc,hc->nh", {rows.view({rows.size(0), heads_, att.size(2)}), att.squeeze(0)});
  };
  const at::Tensor of_sources = score(z, att_src_), of_rows = score(z.narrow(0, 0, hop.num_dst), att_dst_);
  if (edge_dim_ == 0) return attention(hop, z, of_sources, of_rows, numerics().gradient_order);
  const at::Tensor of_edges = score(lin_edge_->forward(edge_features_of(hop, edge_dim_)), att_edge_);
  return attention_of_edges(hop, z, of_sources, of_rows, of_edges, numerics().gradient_order);
}

std::shared_ptr<Model> make_gat(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [heads = options.heads, edge_dim = options.edge_dim](const ConvStack::Widths& w) {
        const int num_heads = w.is_hidden ? heads : 1;
        return std::make_shared<GatConv>(w.in_dim, w.out_dim / num_heads, num_heads, edge_dim);
      });
}

}  // namespace salient
