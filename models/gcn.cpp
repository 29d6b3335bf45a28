// models/gcn.cpp - graph convolutional network.
#include "models/gcn.h"

#include <ATen/ops/zeros.h>

#include "models/ops/operators.h"

namespace salient {

GcnConv::GcnConv(std::int64_t in_dim, std::int64_t out_dim) {
  lin_ = register_module("lin", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo, PygInit::kGlorot));
  bias_ = register_parameter("bias", at::zeros({out_dim}));
}

at::Tensor GcnConv::forward(const HopView& hop, const at::Tensor& x) {
  const at::Tensor self = x.narrow(0, 0, hop.num_dst).to(at::kFloat);
  const at::Tensor count = (hop.indptr.narrow(0, 1, hop.num_dst) - hop.indptr.narrow(0, 0, hop.num_dst) + 1);
  return lin_->forward((segment_sum(hop, x, numerics().gradient_order) + self) / count.unsqueeze(1)) + bias_;
}

std::shared_ptr<Model> make_gcn(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [](const ConvStack::Widths& w) { return std::make_shared<GcnConv>(w.in_dim, w.out_dim); });
}

}  // namespace salient
