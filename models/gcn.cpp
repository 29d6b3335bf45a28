// models/gcn.cpp - graph convolutional network.
#include "models/gcn.h"

#include <ATen/ops/zeros.h>

#include "models/degrees.h"
#include "models/edge_weights.h"
#include "models/ops/operators.h"

namespace salient {
namespace {

at::Tensor row_mean(const HopView& hop, const at::Tensor& x, const at::Tensor& self, GradientOrder order) {
  const at::Tensor count = (hop.indptr.narrow(0, 1, hop.num_dst) - hop.indptr.narrow(0, 0, hop.num_dst) + 1);
  return (segment_sum(hop, x, order) + self) / count.unsqueeze(1);
}

/// A self loop of the graph is among the entries: it takes the place of the one that is added.
at::Tensor symmetric_sum(const HopView& hop, const at::Tensor& x, const at::Tensor& self, GradientOrder order) {
  const RowCounts row = row_counts(hop);
  const at::Tensor root = (row.entries - row.self_loops + 1).rsqrt();
  const auto column = [&](const at::Tensor& values) { return column_of_destinations(hop, values); };
  return (weighted_mean(hop, x, root, order) * column(row.entries) + self * column(root * (1 - row.self_loops))) *
         column(root);
}

}  // namespace

GcnConv::GcnConv(std::int64_t in_dim, std::int64_t out_dim, GcnNorm norm, AggregateBy by) : norm_(norm), by_(by) {
  lin_ = register_module("lin", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo, PygInit::kGlorot));
  bias_ = register_parameter("bias", at::zeros({out_dim}));
}

at::Tensor GcnConv::propagate(const HopView& hop, const at::Tensor& x) const {
  const GradientOrder order = numerics().gradient_order;
  if (by_ == AggregateBy::kWeight)
    return norm_ == GcnNorm::kRow ? row_mean_by_weight(hop, x, order) : symmetric_sum_by_weight(hop, x, order);
  const at::Tensor self = x.narrow(0, 0, hop.num_dst).to(at::kFloat);
  return norm_ == GcnNorm::kRow ? row_mean(hop, x, self, order) : symmetric_sum(hop, x, self, order);
}

at::Tensor GcnConv::forward(const HopView& hop, const InputRows& x) {
  if (x.is_sparse()) return propagate(hop, lin_->product(x)) + bias_;
  return lin_->forward(propagate(hop, x.dense())) + bias_;
}

std::shared_ptr<Model> make_gcn(const ModelOptions& options) {
  return std::make_shared<ConvStack>(options,
                                     [norm = options.gcn_norm, by = options.aggregate](const ConvStack::Widths& w) {
                                       return std::make_shared<GcnConv>(w.in_dim, w.out_dim, norm, by);
                                     });
}

}  // namespace salient
