// loaders/row_weights.cpp - see row_weights.h.
#include "loaders/row_weights.h"

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include <cstddef>
#include <numeric>
#include <span>

namespace salient {

std::vector<float> row_weights_of(const CsrGraph& graph) {
  std::vector<float> sums(graph.num_nodes());
  oneapi::tbb::parallel_for(oneapi::tbb::blocked_range<std::size_t>(0, sums.size(), 4096), [&](const auto& range) {
    for (std::size_t v = range.begin(); v < range.end(); ++v) {
      const std::span<const float> weights = graph.weights_of(static_cast<NodeId>(v));
      sums[v] = static_cast<float>(std::accumulate(weights.begin(), weights.end(), 0.0));
    }
  });
  return sums;
}

}  // namespace salient
