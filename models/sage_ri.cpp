// models/sage_ri.cpp - GraphSAGE with residual connections and an inception-like head.
#include "models/sage_ri.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/leaky_relu.h>

#include "models/ops/sparse_rows.h"

namespace salient {

SageRi::SageRi(const ModelOptions& options) : dropout_(options.dropout), reads_edge_weights_(is_by_weight(options)) {
  const int hidden = options.hidden_dim, num_classes = options.num_classes;
  const auto convs = register_module("convs", std::make_shared<ModuleList>());
  const auto norms = register_module("bns", std::make_shared<ModuleList>());
  for (int i = 0; i < options.num_layers; ++i) {
    convs_.push_back(convs->add(
        std::make_shared<SageConv>(i == 0 ? options.in_dim : hidden, hidden, Aggregation::kMean, options.aggregate)));
    norms_.push_back(norms->add(std::make_shared<BatchNorm>(hidden)));
  }
  const auto residuals = register_module("res_linears", std::make_shared<ModuleList>());
  first_residual_ = residuals->add(std::make_shared<Linear>(options.in_dim, hidden, Bias::kYes));
  const auto mlp = register_module("mlp", std::make_shared<ModuleList>());
  const auto parts = mlp->register_module("module_list", std::make_shared<ModuleList>());
  const int all = options.in_dim + hidden * options.num_layers;
  mlp_first_ = parts->add_as(0, std::make_shared<Linear>(all, 2 * num_classes, Bias::kYes));
  mlp_norm_ = parts->add_as(1, std::make_shared<BatchNorm>(2 * num_classes));
  mlp_second_ = parts->add_as(3, std::make_shared<Linear>(2 * num_classes, num_classes, Bias::kYes));
}

at::Tensor SageRi::layer(int i, const HopView& hop, const InputRows& x, const DropoutKey& key) {
  const auto at = static_cast<std::size_t>(i);
  const InputRows in = i == 0 ? drop(x, key, 0, Mask::kInput) : x;
  const InputRows self = in.first(hop.num_dst);
  const at::Tensor h = convs_[at]->forward(hop, drop(in, key, i, Mask::kNeighbours), drop(self, key, i, Mask::kSelf));
  const InputRows out = drop(at::leaky_relu(norms_[at]->forward(h)), key, i, Mask::kOutput);
  return out.dense() + (i == 0 ? first_residual_->forward(self) : self.dense());
}

at::Tensor SageRi::head(const std::vector<InputRows>& h, const DropoutKey& key) {
  std::vector<at::Tensor> layers;
  for (std::size_t i = 1; i < h.size(); ++i) layers.push_back(h[i].dense());
  const InputRows in = drop(h[0], key, 0, Mask::kInput);  // the same mask as in layer 0
  const at::Tensor x = mlp_norm_->forward(mlp_first_->forward(in, at::cat(layers, 1)));
  return mlp_second_->forward(at::leaky_relu(x));
}

InputRows SageRi::drop(const InputRows& x, const DropoutKey& key, int layer, Mask mask) const {
  if (!is_training()) return x;
  return node_dropout(x, dropout_, key, static_cast<std::uint32_t>(layer) * 4 + static_cast<std::uint32_t>(mask));
}

}  // namespace salient
