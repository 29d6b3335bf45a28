// models/kernels/transpose.cpp - see transpose.h.
#include "models/kernels/transpose.h"

namespace salient {

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

}  // namespace salient
