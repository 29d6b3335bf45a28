// models/kernels/edge_softmax.cpp - see edge_softmax.h.
#include "models/kernels/edge_softmax.h"

#include <algorithm>
#include <cmath>

#include "models/kernels/parallel.h"

namespace salient {

void edge_softmax(const HopEdges& hop, std::int64_t heads, float* edges) {
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    const std::int64_t first = hop.indptr[i] + i, last = hop.indptr[i + 1] + i + 1;
    for (std::int64_t k = 0; k < heads; ++k) {
      float largest = kMaskedLogit, total = 0;
      for (std::int64_t e = first; e < last; ++e) largest = std::max(largest, edges[e * heads + k]);
      for (std::int64_t e = first; e < last; ++e)
        total += edges[e * heads + k] = std::exp(edges[e * heads + k] - largest);
      for (std::int64_t e = first; e < last; ++e) edges[e * heads + k] /= total;
    }
  });
}

void edge_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad) {
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    const std::int64_t first = hop.indptr[i] + i, last = hop.indptr[i + 1] + i + 1;
    for (std::int64_t k = 0; k < heads; ++k) {
      float mean = 0;
      for (std::int64_t e = first; e < last; ++e) mean += weights[e * heads + k] * grad[e * heads + k];
      for (std::int64_t e = first; e < last; ++e)
        grad[e * heads + k] = weights[e * heads + k] * (grad[e * heads + k] - mean);
    }
  });
}

}  // namespace salient
