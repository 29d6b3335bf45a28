// models/ops/edge_attention.cpp - see edge_attention.h. Made of the sums over neighbours, which give it host, device
// and the order of the gradient's sums. Rows of each entry are kept: no kernel yet.
#include "models/ops/edge_attention.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/leaky_relu.h>
#include <ATen/ops/maximum.h>
#include <ATen/ops/repeat_interleave.h>

#include <optional>

#include "core/error.h"
#include "models/ops/operators.h"

namespace salient {
namespace {

at::Tensor plus(const at::Tensor& x, const at::Tensor& more) { return more.defined() ? x.add(more) : x; }

/// Of the entries that are no self loop 1, else 0: f32 [E, 1].
at::Tensor is_other(const HopView& hop, const EntryRows& entries) {
  return hop.indices.ne(entries.row).to(at::kFloat).unsqueeze(1);
}

}  // namespace

EntryRows::EntryRows(const HopView& hop)
    : by_row{hop.num_dst, hop.indices.numel(), hop.indptr, at::arange(hop.indices.numel(), hop.indices.options())},
      row(at::repeat_interleave(hop.indptr.diff(), std::optional{hop.indices.numel()})) {}

at::Tensor mean_of_others(const HopView& hop, const EntryRows& entries, const at::Tensor& edges, GradientOrder order) {
  const at::Tensor other = is_other(hop, entries);
  return segment_sum(entries.by_row, edges.mul(other), order)
      .div(segment_sum(entries.by_row, other, order).clamp_min(1));
}

at::Tensor softmax_sum(const HopView& hop, const EntryRows& entries, const at::Tensor& value, const at::Tensor& logits,
                       const at::Tensor& of_self, GradientOrder order) {
  const std::int64_t width = value.size(1), heads = logits.size(1), num_entries = hop.indices.numel();
  require(value.size(0) == hop.num_src && logits.size(0) == num_entries && of_self.size(0) == hop.num_dst,
          "values of the sources, logits of the entries and of the rows");
  const auto by_head = [&](const at::Tensor& x) { return x.view({x.size(0), heads, width / heads}); };
  const at::Tensor of_others = logits.masked_fill(hop.indices.eq(entries.row).unsqueeze(1), kNeverLogit);
  const at::Tensor of_empty = hop.indptr.diff().eq(0).unsqueeze(1);  // their largest entry would be 0
  const at::Tensor largest = at::maximum(
      segment_max(entries.by_row, of_others.detach().contiguous(), order).masked_fill(of_empty, kNeverLogit),
      of_self.detach());
  const at::Tensor weights = of_others.sub(select_rows(largest, entries.row, order)).exp();
  const at::Tensor weight_of_self = of_self.sub(largest).exp();
  const at::Tensor weighted = by_head(select_rows(value, hop.indices, order)).mul(weights.unsqueeze(2));
  const at::Tensor self = by_head(value.narrow(0, 0, hop.num_dst)).mul(weight_of_self.unsqueeze(2));
  const at::Tensor sums = segment_sum(entries.by_row, weighted.view({num_entries, width}), order);
  const at::Tensor norms = segment_sum(entries.by_row, weights, order).add(weight_of_self);
  return by_head(sums).add(self).div(norms.unsqueeze(2)).view({hop.num_dst, width});
}

at::Tensor attention_of_edges(const HopView& hop, const at::Tensor& z, const at::Tensor& score_src,
                              const at::Tensor& score_dst, const EntryTerms& terms, GradientOrder order) {
  const EntryRows entries(hop);
  // A product of tensors gives scores in an order of memory of its own; rows are summed one by one.
  const at::Tensor src = score_src.contiguous(), dst = score_dst.contiguous();
  at::Tensor edge, own_edge;
  if (terms.features.defined())
    edge = terms.features.contiguous(), own_edge = mean_of_others(hop, entries, edge, order);
  const at::Tensor of_pairs = select_rows(src, hop.indices, order).add(select_rows(dst, entries.row, order));
  const at::Tensor logits = at::leaky_relu(plus(of_pairs, edge), kAttentionSlope);
  const at::Tensor of_self = at::leaky_relu(plus(src.narrow(0, 0, hop.num_dst).add(dst), own_edge), kAttentionSlope);
  return softmax_sum(hop, entries, z, plus(logits, terms.weights.of_entries), plus(of_self, terms.weights.of_self),
                     order);
}

at::Tensor attention_v2_of_edges(const HopView& hop, const at::Tensor& z_src, const at::Tensor& z_dst,
                                 const EntryTerms& terms, const at::Tensor& att, GradientOrder order) {
  const EntryRows entries(hop);
  const auto score = [&](const at::Tensor& z) {
    return at::leaky_relu(z, kAttentionSlope).view({z.size(0), att.size(0), att.size(1)}).mul(att).sum(2);
  };
  const at::Tensor& edge = terms.features;
  const at::Tensor own_edge = edge.defined() ? mean_of_others(hop, entries, edge, order) : edge;
  const at::Tensor of_pairs = select_rows(z_src, hop.indices, order).add(select_rows(z_dst, entries.row, order));
  const at::Tensor logits = score(plus(of_pairs, edge));
  const at::Tensor of_self = score(plus(z_src.narrow(0, 0, hop.num_dst).add(z_dst), own_edge));
  return softmax_sum(hop, entries, z_src, plus(logits, terms.weights.of_entries), plus(of_self, terms.weights.of_self),
                     order);
}

}  // namespace salient
