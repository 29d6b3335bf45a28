// models/ops/dot_attention.cpp - attention by products of queries and keys, made of the sums over neighbours, which
// give it host, device and the order of the gradient's sums. A row of each entry is kept three times: no kernel yet.
#include <ATen/ops/arange.h>
#include <ATen/ops/repeat_interleave.h>

#include <cmath>
#include <optional>

#include "core/error.h"
#include "models/ops/operators.h"

namespace salient {
namespace {

/// [num_entries, width]: of each entry the row of x that it names.
at::Tensor rows_of(const at::Tensor& x, const at::Tensor& row_of_entry, GradientOrder order) {
  const std::int64_t num_entries = row_of_entry.numel();
  return segment_sum({num_entries, x.size(0), at::arange(num_entries + 1, row_of_entry.options()), row_of_entry}, x,
                     order);
}

}  // namespace

at::Tensor dot_attention(const HopView& hop, const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                         std::int64_t heads, GradientOrder order) {
  const std::int64_t width = query.size(1), channels = width / heads, num_entries = hop.indices.numel();
  require(query.size(0) == hop.num_dst && width == heads * channels, "query has one row per destination");
  require(key.size(0) == hop.num_src && key.size(1) == width, "key has one row per source");
  require(value.sizes() == key.sizes(), "value has one row per source");
  const at::Tensor row_of_entry = at::repeat_interleave(hop.indptr.diff(), std::optional{num_entries});
  const HopView entries{hop.num_dst, num_entries, hop.indptr, at::arange(num_entries, hop.indices.options())};
  const auto by_head = [&](const at::Tensor& x) { return x.view({x.size(0), heads, channels}); };

  const at::Tensor products = rows_of(query, row_of_entry, order).mul(rows_of(key, hop.indices, order));
  const at::Tensor logits = by_head(products).sum(2).div(std::sqrt(static_cast<double>(channels)));
  const at::Tensor largest = segment_max(entries, logits.detach(), order);
  const at::Tensor weights = logits.sub(rows_of(largest, row_of_entry, order)).exp();
  const at::Tensor weighted = by_head(rows_of(value, hop.indices, order)).mul(weights.unsqueeze(2));
  const at::Tensor sums = segment_sum(entries, weighted.view({num_entries, width}), order);
  constexpr double kNoEntry = 1e-16;  // as PyG's softmax: a row without entries is 0
  const at::Tensor norms = segment_sum(entries, weights, order).add(kNoEntry);
  return by_head(sums).div(norms.unsqueeze(2)).view({hop.num_dst, width});
}

}  // namespace salient
