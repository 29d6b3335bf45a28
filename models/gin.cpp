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
  const at::Tensor h = segment_sum(hop, x, numerics().gradient_order) + (eps_ + 1) * self;
  return second_->forward(norm_->forward(first_->forward(h)).relu());
}

namespace {

ModelOptions without_dropout(ModelOptions options) {
  options.dropout = 0;
  return options;
}

std::shared_ptr<Conv> make_conv(const ConvStack::Widths& w) { return std::make_shared<GinConv>(w.in_dim, w.out_dim); }

}  // namespace

Gin::Gin(const ModelOptions& options)
    : ConvStack(without_dropout(options), make_conv, Last::kHidden), dropout_(options.dropout) {
  const int hidden = options.hidden_dim;
  lin1_ = register_module("lin1", std::make_shared<Linear>(read_out_dim(options), hidden, Bias::kYes));
  lin2_ = register_module("lin2", std::make_shared<Linear>(hidden, options.num_classes, Bias::kYes));
}

at::Tensor Gin::read_out(const at::Tensor& h, const DropoutKey& key) {
  const at::Tensor x = lin1_->forward(h);
  return lin2_->forward(is_training() ? relu_dropout(x, dropout_, key, /*layer=*/0) : at::relu(x));
}

}  // namespace salient
