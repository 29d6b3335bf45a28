// models/sage.cpp - GraphSAGE with the mean aggregator.
#include "models/sage.h"

#include <ATen/ops/relu.h>

#include "models/ops/operators.h"

namespace salient {

SageConv::SageConv(std::int64_t in_dim, std::int64_t out_dim)
    : lin_l_(register_module("lin_l", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))),
      lin_r_(register_module("lin_r", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))) {}

at::Tensor SageConv::forward(const HopView& hop, const at::Tensor& x) const {
  return forward(hop, x, x.narrow(0, 0, hop.num_dst));
}

at::Tensor SageConv::forward(const HopView& hop, const at::Tensor& x, const at::Tensor& self) const {
  return lin_l_->forward(segment_mean(hop, x)) + lin_r_->forward(self);
}

Sage::Sage(const ModelOptions& options) : dropout_(options.dropout) {
  const auto convs = register_module("convs", std::make_shared<ModuleList>());
  for (int i = 0; i < options.num_layers; ++i) {
    const int in_dim = i == 0 ? options.in_dim : options.hidden_dim;
    const int out_dim = i == options.num_layers - 1 ? options.num_classes : options.hidden_dim;
    convs_.push_back(convs->add(std::make_shared<SageConv>(in_dim, out_dim)));
  }
}

at::Tensor Sage::layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) {
  const at::Tensor h = convs_[static_cast<std::size_t>(i)]->forward(hop, x);
  if (i == num_layers() - 1) return h;
  return is_training() ? relu_dropout(h, dropout_, key, static_cast<std::uint32_t>(i)) : at::relu(h);
}

}  // namespace salient
