// models/ops/segment.cpp - neighbour sums on the host, bound by memory bandwidth: see weighted_rows.h. The backward pass
// is the same loop over the edges grouped by source.
#include "models/ops/segment.h"

#include "models/ops/parallel.h"
#include "models/ops/weighted_rows.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 64;

}  // namespace

template <class T>
void segment_reduce(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out) {
  const RowList<T> rows{x, width, width, hop.indices};
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    const Sum<T> sum{hop.indptr[i], hop.indptr[i + 1], hop.indptr[hop.num_dst], row_scale(hop, reduce, i)};
    sum_rows(
        rows, sum, [](std::int64_t) { return 1.0f; }, out + i * width);
  });
}

void segment_reduce_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                             float* grad_x) {
  std::vector<float> scale_of(static_cast<std::size_t>(hop.num_dst));
  for (std::int64_t i = 0; i < hop.num_dst; ++i) scale_of[static_cast<std::size_t>(i)] = row_scale(hop, reduce, i);
  const TransposedHop by_source = transpose(hop);
  const LocalId *indptr = by_source.indptr.data(), *destination = by_source.destination.data();
  const RowList<float> rows{grad_out, width, width, destination};
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    const Sum<float> sum{indptr[j], indptr[j + 1], indptr[hop.num_src]};
    const auto weight = [&](std::int64_t e) { return scale_of[static_cast<std::size_t>(destination[e])]; };
    sum_rows(rows, sum, weight, grad_x + j * width);
  });
}

TransposedHop transpose(const HopEdges& hop) {
  const auto num_edges = static_cast<std::size_t>(hop.num_dst == 0 ? 0 : hop.indptr[hop.num_dst]);
  TransposedHop by_source{std::vector<LocalId>(static_cast<std::size_t>(hop.num_src) + 1, 0),
                          std::vector<LocalId>(num_edges), std::vector<LocalId>(num_edges)};
  for (std::size_t e = 0; e < num_edges; ++e) ++by_source.indptr[static_cast<std::size_t>(hop.indices[e]) + 1];
  for (std::size_t j = 1; j < by_source.indptr.size(); ++j) by_source.indptr[j] += by_source.indptr[j - 1];
  std::vector<LocalId> next(by_source.indptr.begin(), by_source.indptr.end() - 1);
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (LocalId e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(hop.indices[e])]++);
      by_source.destination[at] = static_cast<LocalId>(i);
      by_source.edge[at] = e;
    }
  return by_source;
}

template void segment_reduce<float>(const HopEdges&, Reduce, const float*, std::int64_t, float*);
template void segment_reduce<Half>(const HopEdges&, Reduce, const Half*, std::int64_t, float*);

}  // namespace salient
