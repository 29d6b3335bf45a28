// models/gin.cpp - graph isomorphism network.
#include "models/gin.h"

#include <ATen/ops/relu.h>
#include <ATen/ops/zeros.h>

#include "models/degrees.h"
#include "models/ops/edge_attention.h"
#include "models/ops/operators.h"

namespace salient {

GinConv::GinConv(std::int64_t in_dim, std::int64_t out_dim, GinSum sum, std::int64_t edge_dim)
    : sum_(sum), edge_dim_(edge_dim) {
  eps_ = register_buffer("eps", at::zeros({1}));
  const auto nn = register_module("nn", std::make_shared<ModuleList>());
  first_ = nn->add_as(0, std::make_shared<Linear>(in_dim, out_dim, Bias::kYes));
  norm_ = nn->add_as(1, std::make_shared<BatchNorm>(out_dim));
  second_ = nn->add_as(3, std::make_shared<Linear>(out_dim, out_dim, Bias::kYes));
  if (edge_dim > 0) lin_edge_ = register_module("lin", std::make_shared<Linear>(edge_dim, in_dim, Bias::kYes));
}

at::Tensor GinConv::sum_of_entries(const HopView& hop, const at::Tensor& x) const {
  const GradientOrder order = numerics().gradient_order;
  if (edge_dim_ > 0) return sum_of_edges(hop, x);
  if (sum_ == GinSum::kPlain) return segment_sum(hop, x, order);
  return segment_mean(hop, x, order) * column_of_destinations(hop, row_counts(hop).entries);
}

at::Tensor GinConv::sum_of_edges(const HopView& hop, const at::Tensor& x) const {
  const GradientOrder order = numerics().gradient_order;
  const at::Tensor edges = lin_edge_->forward(edge_features_of(hop, edge_dim_));
  const at::Tensor entries = select_rows(x, hop.indices, order).add(edges).relu();
  const HopView by_row = EntryRows(hop).by_row;
  if (sum_ == GinSum::kPlain) return segment_sum(by_row, entries, order);
  return segment_mean(by_row, entries, order) * column_of_destinations(hop, row_counts(hop).entries);
}

at::Tensor GinConv::propagate(const HopView& hop, const at::Tensor& x) const {
  const at::Tensor self = x.narrow(0, 0, hop.num_dst).to(at::kFloat);
  return sum_of_entries(hop, x) + (eps_ + 1) * self;
}

at::Tensor GinConv::forward(const HopView& hop, const InputRows& x) {
  const at::Tensor h = x.is_sparse() && edge_dim_ == 0 ? first_->with_bias(propagate(hop, first_->product(x)))
                                                       : first_->forward(propagate(hop, x.to_dense()));
  return second_->forward(norm_->forward(h).relu());
}

namespace {

ModelOptions without_dropout(ModelOptions options) {
  options.dropout = 0;
  return options;
}

ConvStack::MakeConv conv_maker(const ModelOptions& options) {
  const int edge_dim = options.kind == ModelKind::kGine ? options.edge_dim : 0;
  return [sum = options.gin_sum, edge_dim](const ConvStack::Widths& w) {
    return std::make_shared<GinConv>(w.in_dim, w.out_dim, sum, edge_dim);
  };
}

}  // namespace

Gin::Gin(const ModelOptions& options)
    : ConvStack(without_dropout(options), conv_maker(options), Last::kHidden), dropout_(options.dropout) {
  const int hidden = options.hidden_dim;
  lin1_ = register_module("lin1", std::make_shared<Linear>(read_out_dim(options), hidden, Bias::kYes));
  lin2_ = register_module("lin2", std::make_shared<Linear>(hidden, options.num_classes, Bias::kYes));
}

at::Tensor Gin::read_out(const at::Tensor& h, const DropoutKey& key) {
  const at::Tensor x = lin1_->forward(h);
  return lin2_->forward(is_training() ? relu_dropout(x, dropout_, key, /*layer=*/0) : at::relu(x));
}

}  // namespace salient
