// models/gatv2.cpp - see gatv2.h.
#include "models/gatv2.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include "models/edge_weights.h"
#include "models/init.h"
#include "models/ops/edge_attention.h"
#include "models/ops/operators.h"

namespace salient {

Gatv2Conv::Gatv2Conv(std::int64_t in_dim, std::int64_t channels, std::int64_t heads, EdgeTerms edges) : edges_(edges) {
  const std::int64_t width = heads * channels;
  lin_l_ = register_module("lin_l", std::make_shared<Linear>(in_dim, width, Bias::kYes, PygInit::kGlorot));
  lin_r_ = register_module("lin_r", std::make_shared<Linear>(in_dim, width, Bias::kYes, PygInit::kGlorot));
  att_ = register_parameter("att", at::empty({1, heads, channels}, at::kFloat));
  bias_ = register_parameter("bias", at::zeros({width}));
  if (edges.dim > 0)
    lin_edge_ = register_module("lin_edge", std::make_shared<Linear>(edges.dim, width, Bias::kNo, PygInit::kGlorot));
}

void Gatv2Conv::initialise(const std::string& name, InitScheme, std::uint32_t seed) {
  fill_uniform(att_.detach(), name + ".att", glorot_bound(att_.size(2), att_.size(1)), seed);
}

at::Tensor Gatv2Conv::forward(const HopView& hop, const InputRows& x) {
  const at::Tensor l = lin_l_->forward(x.first(hop.num_src)), r = lin_r_->forward(x.first(hop.num_dst));
  const GradientOrder order = numerics().gradient_order;
  if (!edges_.any()) return attention_v2(hop, l, r, att_.squeeze(0), order) + bias_;
  EntryTerms terms;
  if (edges_.dim > 0) terms.features = lin_edge_->forward(edge_features_of(hop, edges_.dim));
  if (edges_.are_weights()) terms.weights = log_weights_of(hop);
  return attention_v2_of_edges(hop, l, r, terms, att_.squeeze(0), order) + bias_;
}

std::shared_ptr<Model> make_gatv2(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [heads = options.heads, edges = EdgeTerms(options)](const ConvStack::Widths& w) {
        const int num_heads = w.is_hidden ? heads : 1;
        return std::make_shared<Gatv2Conv>(w.in_dim, w.out_dim / num_heads, num_heads, edges);
      });
}

}  // namespace salient
