// models/sage.cpp - GraphSAGE with the mean aggregator.
#include "models/sage.h"

#include "models/ops/operators.h"

namespace salient {

SageConv::SageConv(std::int64_t in_dim, std::int64_t out_dim)
    : lin_l_(register_module("lin_l", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))),
      lin_r_(register_module("lin_r", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))) {}

at::Tensor SageConv::forward(const HopView& hop, const at::Tensor& x) {
  return sage_convolution(hop, x, lin_l_->weight(), lin_r_->weight());
}

at::Tensor SageConv::forward(const HopView& hop, const at::Tensor& x, const at::Tensor& self) const {
  return lin_l_->forward(segment_mean(hop, x)) + lin_r_->forward(self);
}

std::shared_ptr<Model> make_sage(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [](const ConvStack::Widths& w) { return std::make_shared<SageConv>(w.in_dim, w.out_dim); });
}

}  // namespace salient
