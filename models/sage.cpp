// models/sage.cpp - see sage.h.
#include "models/sage.h"

#include "models/ops/operators.h"

namespace salient {

SageConv::SageConv(std::int64_t in_dim, std::int64_t out_dim, Aggregation aggregation)
    : aggregation_(aggregation),
      lin_l_(register_module("lin_l", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))),
      lin_r_(register_module("lin_r", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))) {}

at::Tensor SageConv::forward(const HopView& hop, const at::Tensor& x) {
  if (aggregation_ == Aggregation::kMax) return forward(hop, x, x.narrow(0, 0, hop.num_dst));
  return sage_convolution(hop, x, lin_l_->weight(), lin_r_->weight(), numerics());
}

at::Tensor SageConv::forward(const HopView& hop, const at::Tensor& x, const at::Tensor& self) const {
  const GradientOrder order = numerics().gradient_order;
  const at::Tensor around =
      aggregation_ == Aggregation::kMean ? segment_mean(hop, x, order) : segment_max(hop, x, order);
  return lin_l_->forward(around) + lin_r_->forward(self);
}

std::shared_ptr<Model> make_sage(const ModelOptions& options) {
  return std::make_shared<ConvStack>(options, [aggregation = options.aggr](const ConvStack::Widths& w) {
    return std::make_shared<SageConv>(w.in_dim, w.out_dim, aggregation);
  });
}

}  // namespace salient
