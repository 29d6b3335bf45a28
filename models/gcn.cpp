// models/gcn.cpp - graph convolutional network.
#include "models/gcn.h"

#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include "models/ops/operators.h"

namespace salient {

GcnConv::GcnConv(std::int64_t in_dim, std::int64_t out_dim) {
  lin_ = register_module("lin", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo, PygInit::kGlorot));
  bias_ = register_parameter("bias", at::zeros({out_dim}));
}

void GcnConv::initialise(const std::string&, const std::string&, std::uint32_t) {}  // the bias starts at 0

at::Tensor GcnConv::forward(const HopView& hop, const at::Tensor& x) const {
  const at::Tensor self = x.narrow(0, 0, hop.num_dst).to(at::kFloat);
  const at::Tensor count = (hop.indptr.narrow(0, 1, hop.num_dst) - hop.indptr.narrow(0, 0, hop.num_dst) + 1);
  return lin_->forward((segment_sum(hop, x) + self) / count.unsqueeze(1)) + bias_;
}

Gcn::Gcn(const ModelOptions& options) : dropout_(options.dropout) {
  const auto convs = register_module("convs", std::make_shared<ModuleList>());
  for (int i = 0; i < options.num_layers; ++i) {
    const int in_dim = i == 0 ? options.in_dim : options.hidden_dim;
    const int out_dim = i == options.num_layers - 1 ? options.num_classes : options.hidden_dim;
    convs_.push_back(convs->add(std::make_shared<GcnConv>(in_dim, out_dim)));
  }
}

at::Tensor Gcn::layer(int i, const HopView& hop, const at::Tensor& x, const DropoutKey& key) {
  const at::Tensor h = convs_[static_cast<std::size_t>(i)]->forward(hop, x);
  if (i == num_layers() - 1) return h;
  return is_training() ? relu_dropout(h, dropout_, key, static_cast<std::uint32_t>(i)) : at::relu(h);
}

}  // namespace salient
