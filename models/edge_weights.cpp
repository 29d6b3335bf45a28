// models/edge_weights.cpp - see edge_weights.h.
#include "models/edge_weights.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include "core/error.h"
#include "models/degrees.h"
#include "models/ops/operators.h"
#include "models/ops/weighted_sum.h"

namespace salient {
namespace {

/// 1 / x, and 0 of 0.
at::Tensor inverse_of(const at::Tensor& x) { return at::where(x.gt(0), x.reciprocal(), 0); }

/// 1 / sqrt(weight of the row and of the loop), of each source; 0 of 0.
at::Tensor roots(const HopView& hop, const RowCounts& row) {
  require(hop.row_weights.defined() && hop.row_weights.numel() >= hop.num_src,
          "a batch for this model carries the weights of whole rows");
  const at::Tensor degree = hop.row_weights.narrow(0, 0, hop.num_src) + row.self_loops.eq(0);
  return at::where(degree.gt(0), degree.rsqrt(), 0);
}

}  // namespace

at::Tensor edge_weights_of(const HopView& hop) {
  if (!hop.edge_weight.defined() && hop.indices.numel() == 0)
    return at::empty({0}, hop.indices.options().dtype(at::kFloat));
  require(hop.edge_weight.defined() && hop.edge_weight.numel() == hop.indices.numel(),
          "a batch for this model carries the weights of edges");
  return hop.edge_weight;
}

at::Tensor mean_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  const at::Tensor weights = edge_weights_of(hop);
  const at::Tensor scale = inverse_of(sum_in_rows(hop, weights));
  return weighted_sum(hop, x, {weights * of_rows(hop, scale), at::zeros({hop.num_dst}, scale.options())}, order);
}

at::Tensor mean_of_entries_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  const at::Tensor weights = edge_weights_of(hop);
  const at::Tensor scale = inverse_of(sum_in_rows(hop, weights));
  const at::Tensor weighted = x.to(at::kFloat) * (weights * of_rows(hop, scale)).unsqueeze(1);
  return segment_sum(EntryRows(hop).by_row, weighted, order);
}

at::Tensor row_mean_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  const at::Tensor weights = edge_weights_of(hop);
  const at::Tensor scale = (sum_in_rows(hop, weights) + 1).reciprocal();
  return weighted_sum(hop, x, {weights * of_rows(hop, scale), scale}, order);
}

at::Tensor symmetric_sum_by_weight(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  const RowCounts row = row_counts(hop);
  const at::Tensor root = roots(hop, row), own = root.narrow(0, 0, hop.num_dst);
  const auto of_destinations = [&](const at::Tensor& values) { return values.narrow(0, 0, hop.num_dst); };
  const at::Tensor kept = hop.indptr.diff().clamp_min(1);
  const at::Tensor scale = own * of_destinations(row.entries) / kept;
  return weighted_sum(hop, x,
                      {edge_weights_of(hop) * root.index_select(0, hop.indices) * of_rows(hop, scale),
                       own.square() * of_destinations(row.self_loops).eq(0)},
                      order);
}

LogWeights log_weights_of(const HopView& hop) {
  const at::Tensor weights = edge_weights_of(hop).unsqueeze(1);
  const at::Tensor mean = mean_of_others(hop, EntryRows(hop), weights, GradientOrder::kAny);
  return {at::where(weights.gt(0), weights.log(), kNeverLogit), at::where(mean.gt(0), mean.log(), 0)};
}

}  // namespace salient
