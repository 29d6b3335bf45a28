// models/sage.cpp - see sage.h.
#include "models/sage.h"

#include "models/edge_weights.h"
#include "models/ops/edge_attention.h"
#include "models/ops/operators.h"

namespace salient {

SageConv::SageConv(std::int64_t in_dim, std::int64_t out_dim, Aggregation aggregation, AggregateBy by,
                   std::int64_t edge_dim)
    : aggregation_(aggregation),
      by_(by),
      lin_l_(register_module("lin_l", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))),
      lin_r_(register_module("lin_r", std::make_shared<Linear>(in_dim, out_dim, Bias::kNo))) {
  if (edge_dim > 0) lin_edge_ = register_module("lin_edge", std::make_shared<Linear>(edge_dim, out_dim, Bias::kNo));
}

at::Tensor SageConv::forward(const HopView& hop, const InputRows& x) {
  const at::Tensor nodes = of_nodes(hop, x);
  return lin_edge_ == nullptr ? nodes : nodes + lin_edge_->forward(of_edges(hop));
}

at::Tensor SageConv::of_edges(const HopView& hop) const {
  const at::Tensor edges = edge_features_of(hop, lin_edge_->weight().size(1));
  const GradientOrder order = numerics().gradient_order;
  if (by_ == AggregateBy::kWeight) return mean_of_entries_by_weight(hop, edges, order);
  const HopView by_row = EntryRows(hop).by_row;
  return aggregation_ == Aggregation::kMean ? segment_mean(by_row, edges, order) : segment_max(by_row, edges, order);
}

at::Tensor SageConv::of_nodes(const HopView& hop, const InputRows& x) const {
  if (aggregation_ == Aggregation::kMax || by_ == AggregateBy::kWeight || x.is_sparse())
    return forward(hop, x, x.first(hop.num_dst));
  return sage_convolution(hop, x.dense(), lin_l_->weight(), lin_r_->weight(), numerics());
}

at::Tensor SageConv::mean(const HopView& hop, const at::Tensor& x) const {
  const GradientOrder order = numerics().gradient_order;
  return by_ == AggregateBy::kWeight ? mean_by_weight(hop, x, order) : segment_mean(hop, x, order);
}

at::Tensor SageConv::forward(const HopView& hop, const InputRows& x, const InputRows& self) const {
  const bool is_mean = aggregation_ == Aggregation::kMean;
  if (is_mean && x.is_sparse()) return mean(hop, lin_l_->product(x.first(hop.num_src))) + lin_r_->product(self);
  const at::Tensor rows = x.to_dense();  // a maximum of columns needs them all
  const at::Tensor around = is_mean ? mean(hop, rows) : segment_max(hop, rows, numerics().gradient_order);
  return lin_l_->forward(around) + lin_r_->forward(self);
}

std::shared_ptr<Model> make_sage(const ModelOptions& options) {
  return std::make_shared<ConvStack>(
      options, [aggr = options.aggr, by = options.aggregate, edge_dim = options.edge_dim](const ConvStack::Widths& w) {
        return std::make_shared<SageConv>(w.in_dim, w.out_dim, aggr, by, edge_dim);
      });
}

}  // namespace salient
