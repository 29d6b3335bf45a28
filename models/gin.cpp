// models/gin.cpp - graph isomorphism network.
#include "models/gin.h"

#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include "models/ops/operators.h"

namespace salient {

GinConv::GinConv(std::int64_t in_dim, std::int64_t out_dim) {
  eps_ = register_buffer("eps", at::zeros({1}));
  const auto nn = register_module("nn", std::make_shared<ModuleList>());
  first_ = nn->add_as(0, std::make_shared<Linear>(in_dim, out_dim, Bias::kYes));
  norm_ = nn->add_as(1, std::make_shared<BatchNorm>(out_dim));
  second_ = nn->add_as(3, std::make_shared<Linear>(out_dim, out_dim, Bias::kYes));
}

at::Tensor GinConv::forward(const HopView& hop, const at::Tensor& x) {
  const at::Tensor self = x.narrow(0, 0, hop.num_dst).to(at::kFloat);
  const at::Tensor h = segment_sum(hop, x) + (eps_ + 1) * self;
  return second_->forward(norm_->forward(first_->forward(h)).relu()).relu();
}

Gin::Gin(const ModelOptions& options) : dropout_(options.dropout) {
  const auto convs = register_module("convs", std::make_shared<ModuleList>());
  for (int i = 0; i < options.num_layers; ++i)
    convs_.push_back(
        convs->add(std::make_shared<GinConv>(i == 0 ? options.in_dim : options.hidden_dim, options.hidden_dim)));
  lin1_ = register_module("lin1", std::make_shared<Linear>(options.hidden_dim, options.hidden_dim, Bias::kYes));
  lin2_ = register_module("lin2", std::make_shared<Linear>(options.hidden_dim, options.num_classes, Bias::kYes));
}

at::Tensor Gin::layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey&) {
  return convs_[static_cast<std::size_t>(i)]->forward(hop, x);
}

at::Tensor Gin::head(const std::vector<at::Tensor>& h, const DropoutKey& key) {
  const at::Tensor x = lin1_->forward(h.back());
  return lin2_->forward(is_training() ? relu_dropout(x, dropout_, key, /*layer=*/0) : at::relu(x));
}

}  // namespace salient
