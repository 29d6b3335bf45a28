// models/kernels/attention_edges.h - which edges attention runs over, and the host's loops over them.
//
// Row i attends to its entries j != i, and to i itself once: PyG's attention layers add self loops so. Its edges are
// one per entry, then its self loop: [indptr[i] + i, indptr[i + 1] + i + 1). The edge of an entry j == i is masked: its
// logit is minus infinity, its weight 0. Arrays over edges are [num_attention_edges, heads] f32; nothing else is kept
// per edge.
//
// By hand, as torch would write a row per edge: see segment.h.
//
// The functions of gat_logits.h, gatv2_logits.h, edge_softmax.h and attention_sum.h take host memory and run on the
// caller's oneTBB arena; with a stream as the last argument they take device memory, enqueue and return. Results are
// overwritten. On the host they do not depend on the number of threads; on the device atomics add up the sums over a
// source's edges, in any order, unless the edges by source are given. Gradients by bins: gat_bins.h, gatv2_bins.h.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "models/kernels/transpose.h"

namespace salient {

/// Rows of `heads` times `channels` columns.
struct Heads {
  std::int64_t heads;
  std::int64_t channels;
  std::int64_t width() const { return heads * channels; }
};

/// Attention edges of a hop with `num_entries` entries.
inline std::int64_t num_attention_edges(std::int64_t num_entries, std::int64_t num_dst) {
  return num_entries + num_dst;
}

inline constexpr std::int64_t kRowsPerTask = 64;
inline constexpr float kMaskedLogit = -std::numeric_limits<float>::infinity();

/// f(source, edge) for the entries of row i in order, then for i itself; masked(edge) for an entry that is i.
template <class F, class Masked>
void for_each_edge(const HopEdges& hop, std::int64_t i, const F& f, const Masked& masked) {
  for (std::int64_t e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e)
    hop.indices[e] == i ? masked(e + i) : f(std::int64_t{hop.indices[e]}, e + i);
  f(i, hop.indptr[i + 1] + i);
}

/// f(destination, edge) for every edge of source j that is not masked, in a fixed order.
template <class F>
void for_each_edge_of_source(const HopEdges& hop, const TransposedHop& by_source, std::int64_t j, const F& f) {
  const auto at = [](const std::vector<LocalId>& v, std::int64_t i) {
    return std::int64_t{v[static_cast<std::size_t>(i)]};
  };
  for (std::int64_t t = at(by_source.indptr, j); t < at(by_source.indptr, j + 1); ++t) {
    const std::int64_t i = at(by_source.destination, t);
    if (i != j) f(i, at(by_source.edge, t) + i);
  }
  if (j < hop.num_dst) f(j, hop.indptr[j + 1] + j);
}

}  // namespace salient
