// models/ops/dot_attention.cpp - attention by products of queries and keys, made of the sums over neighbours, which
// give it host, device and the order of the gradient's sums. A row of each entry is kept three times: no kernel yet.
#include <ATen/ops/arange.h>
#include <ATen/ops/repeat_interleave.h>

#include <cmath>
#include <optional>

#include "core/error.h"
#include "models/ops/edge_attention.h"
#include "models/ops/operators.h"

namespace salient {

at::Tensor dot_attention(const HopView& hop, const AttentionRows& rows, std::int64_t heads, GradientOrder order,
                         const SoftmaxGroups& groups) {
  const auto& [query, key, value, edge, log_weight] = rows;
  const std::int64_t width = query.size(1), channels = width / heads, num_entries = hop.indices.numel();
  require(query.size(0) == hop.num_dst && width == heads * channels, "query has one row per destination");
  require(key.size(0) == hop.num_src && key.size(1) == width, "key has one row per source");
  require(value.sizes() == key.sizes(), "value has one row per source");
  require(!edge.defined() || (edge.size(0) == num_entries && edge.size(1) == width), "an edge has a row per entry");
  const bool has_groups = groups.indptr.defined();
  const auto row_of_entry = [&](const at::Tensor& indptr) {
    return at::repeat_interleave(indptr.diff(), std::optional{num_entries});
  };
  const HopView entries{hop.num_dst, num_entries, hop.indptr, at::arange(num_entries, hop.indices.options())};
  const HopView shared =
      has_groups ? HopView{groups.indptr.numel() - 1, num_entries, groups.indptr, entries.indices} : entries;
  const at::Tensor row = row_of_entry(entries.indptr), group = has_groups ? row_of_entry(shared.indptr) : row;
  const auto by_head = [&](const at::Tensor& x) { return x.view({x.size(0), heads, channels}); };

  const auto of_entries = [&, &edge = edge](const at::Tensor& x) {
    const at::Tensor selected = select_rows(x, hop.indices, order);
    return edge.defined() ? selected.add(edge) : selected;
  };
  const at::Tensor products = select_rows(query, row, order).mul(of_entries(key));
  const at::Tensor scores = by_head(products).sum(2).div(std::sqrt(static_cast<double>(channels)));
  const at::Tensor logits = log_weight.defined() ? scores.add(log_weight) : scores;
  const at::Tensor largest = segment_max(shared, logits.detach(), order);
  at::Tensor weights = logits.sub(select_rows(largest, group, order)).exp();
  if (log_weight.defined()) weights = weights.mul(log_weight.gt(kNeverLogit / 2));  // a row may have weights of 0 alone
  const at::Tensor weighted = by_head(of_entries(value)).mul(weights.unsqueeze(2));
  const at::Tensor sums = segment_sum(entries, weighted.view({num_entries, width}), order);
  constexpr double kNoEntry = 1e-16;  // as PyG's softmax: a row without entries is 0
  const at::Tensor norms = segment_sum(shared, weights, order).add(kNoEntry);
  const at::Tensor norm_of_row = has_groups ? select_rows(norms, groups.of_row, order) : norms;
  return by_head(sums).div(norm_of_row.unsqueeze(2)).view({hop.num_dst, width});
}

}  // namespace salient
