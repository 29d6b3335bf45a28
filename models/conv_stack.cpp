// models/conv_stack.cpp - see conv_stack.h.
#include "models/conv_stack.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/max.h>
#include <ATen/ops/relu.h>
#include <ATen/ops/stack.h>

#include <tuple>

namespace salient {

ConvStack::ConvStack(const ModelOptions& options, const MakeConv& make_conv)
    : ConvStack(options, make_conv, reads_out(options) ? Last::kHidden : Last::kLogits) {
  if (reads_out(options))
    lin_ = register_module("lin", std::make_shared<Linear>(read_out_dim(options), options.num_classes, Bias::kYes));
}

ConvStack::ConvStack(const ModelOptions& options, const MakeConv& make_conv, Last last)
    : dropout_(options.dropout),
      reads_edge_features_(can_read_edge_features(options.kind) && options.edge_dim > 0),
      reads_edge_weights_(is_by_weight(options)),
      jk_(options.jk),
      num_hidden_(static_cast<std::size_t>(options.num_layers - (last == Last::kLogits ? 1 : 0))) {
  if (options.time_encoding > 0)
    time_enc_ = register_module("time_enc", std::make_shared<TimeEncoder>(options.time_encoding));
  const auto convs = register_module("convs", std::make_shared<ModuleList>());
  const auto norms = register_module("norms", std::make_shared<ModuleList>());
  const auto residuals = register_module("res_linears", std::make_shared<ModuleList>());
  for (std::size_t i = 0; i < static_cast<std::size_t>(options.num_layers); ++i) {
    const bool is_hidden = i < num_hidden_;
    const int in_dim = i == 0 ? options.in_dim : options.hidden_dim;
    const int out_dim = is_hidden ? options.hidden_dim : options.num_classes;
    convs_.push_back(convs->add(make_conv({in_dim, out_dim, is_hidden})));
    if (!is_hidden) continue;
    if (options.norm != NormKind::kNone) norms_.push_back(norms->add(make_norm(options.norm, out_dim)));
    if (!options.residual) continue;
    residuals_.push_back(in_dim == out_dim ? nullptr : std::make_shared<Linear>(in_dim, out_dim, Bias::kYes));
    if (residuals_.back() != nullptr) residuals->add_as(i, residuals_.back());
  }
}

at::Tensor ConvStack::layer(int i, const HopView& hop, const InputRows& x, const DropoutKey& key) {
  const auto at = static_cast<std::size_t>(i);
  at::Tensor h = convs_[at]->forward(time_enc_ == nullptr ? hop : time_enc_->append_to(hop), x);
  if (at >= num_hidden_) return h;
  if (!residuals_.empty()) h = h + residual(at, x.first(hop.num_dst));
  if (!norms_.empty()) h = norms_[at]->forward(h);
  return activated(h, key, static_cast<std::uint32_t>(i));
}

at::Tensor ConvStack::activated(const at::Tensor& h, const DropoutKey& key, std::uint32_t stream) const {
  return is_training() && dropout_ > 0 ? relu_dropout(h, dropout_, key, stream) : at::relu(h);
}

at::Tensor ConvStack::residual(std::size_t i, const InputRows& x) const {
  return residuals_[i] == nullptr ? x.to_dense() : residuals_[i]->forward(x);
}

at::Tensor ConvStack::head(const std::vector<InputRows>& h, const DropoutKey& key) {
  if (jk_ == JumpingKnowledge::kNone) return read_out(h.back().dense(), key);
  std::vector<at::Tensor> layers;
  for (std::size_t i = 1; i < h.size(); ++i) layers.push_back(h[i].dense());
  return read_out(jk_ == JumpingKnowledge::kCat ? at::cat(layers, 1) : std::get<0>(at::max(at::stack(layers, -1), -1)),
                  key);
}

at::Tensor ConvStack::read_out(const at::Tensor& h, const DropoutKey&) {
  return lin_ == nullptr ? h : lin_->forward(h);
}

int ConvStack::read_out_dim(const ModelOptions& options) {
  return options.jk == JumpingKnowledge::kCat ? options.hidden_dim * options.num_layers : options.hidden_dim;
}

}  // namespace salient
