// models/gat.cpp - graph attention network.
#include "models/gat.h"

#include <ATen/ops/einsum.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/relu.h>

#include "engine/core/error.h"
#include "models/init.h"
#include "models/ops/operators.h"

namespace salient {

GatConv::GatConv(std::int64_t in_dim, std::int64_t channels, std::int64_t heads) : heads_(heads) {
  lin_ = register_module("lin", std::make_shared<Linear>(in_dim, heads * channels, Bias::kNo, PygInit::kGlorot));
  att_src_ = register_parameter("att_src", at::empty({1, heads, channels}, at::kFloat));
  att_dst_ = register_parameter("att_dst", at::empty({1, heads, channels}, at::kFloat));
}

void GatConv::initialise(const std::string& name, const std::string&, std::uint32_t seed) {
  const double bound = glorot_bound(att_src_.size(2), att_src_.size(1));
  fill_uniform(att_src_.detach(), name + ".att_src", bound, seed);
  fill_uniform(att_dst_.detach(), name + ".att_dst", bound, seed);
}

at::Tensor GatConv::forward(const HopView& hop, const at::Tensor& x) const {
  const at::Tensor z = lin_->forward(x.narrow(0, 0, hop.num_src));
  const auto score = [&](const at::Tensor& rows, const at::Tensor& att) {
    return at::einsum("nhc,hc->nh", {rows.view({rows.size(0), heads_, att.size(2)}), att.squeeze(0)});
  };
  return attention(hop, z, score(z, att_src_), score(z.narrow(0, 0, hop.num_dst), att_dst_));
}

Gat::Gat(const ModelOptions& options) : dropout_(options.dropout) {
  if (options.num_layers > 1 && options.hidden_dim % options.heads != 0)
    fail(ErrorKind::kUsage,
         "--heads " + std::to_string(options.heads) + ": must divide --hidden " + std::to_string(options.hidden_dim));
  const auto convs = register_module("convs", std::make_shared<ModuleList>());
  for (int i = 0; i < options.num_layers; ++i) {
    const bool is_last = i == options.num_layers - 1;
    const int in_dim = i == 0 ? options.in_dim : options.hidden_dim;
    const int heads = is_last ? 1 : options.heads;
    const int channels = is_last ? options.num_classes : options.hidden_dim / heads;
    convs_.push_back(convs->add(std::make_shared<GatConv>(in_dim, channels, heads)));
  }
}

at::Tensor Gat::layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) {
  const at::Tensor h = convs_[static_cast<std::size_t>(i)]->forward(hop, x);
  if (i == num_layers() - 1) return h;
  return is_training() ? relu_dropout(h, dropout_, key, static_cast<std::uint32_t>(i)) : at::relu(h);
}

}  // namespace salient
