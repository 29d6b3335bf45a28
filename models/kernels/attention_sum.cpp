// models/kernels/attention_sum.cpp - see attention_sum.h. Bound by the rows of h: see weighted_rows.h.
#include "models/kernels/attention_sum.h"

#include "models/kernels/parallel.h"
#include "models/kernels/weighted_rows.h"

namespace salient {

void attention_sum(const HopEdges& hop, const AttentionTerms& terms, float* out) {
  const std::int64_t heads = terms.shape.heads, channels = terms.shape.channels, width = terms.shape.width();
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const RowList<float> rows{terms.h + k * channels, width, channels, hop.indices};
      const auto weight = [&](std::int64_t e) { return terms.weights[(e + i) * heads + k]; };
      const float own_weight = weight(hop.indptr[i + 1]);
      const Sum<float> sum{hop.indptr[i],      hop.indptr[i + 1], hop.indptr[hop.num_dst], 1,
                           rows.x + i * width, own_weight};
      sum_rows(rows, sum, weight, out + i * width + k * channels);
    }
  });
}

void attention_sum_backward(const HopEdges& hop, const AttentionTerms& terms, const float* grad_out,
                            const AttentionSumGradients& grads) {
  const std::int64_t heads = terms.shape.heads, channels = terms.shape.channels, width = terms.shape.width();
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const float* grad = grad_out + i * width + k * channels;
      for_each_edge(
          hop, i,
          [&](std::int64_t j, std::int64_t edge) {
            grads.weights[edge * heads + k] = dot(grad, terms.h + j * width + k * channels, channels);
          },
          [&](std::int64_t edge) { grads.weights[edge * heads + k] = 0; });
    }
  });
  const TransposedHop by_source = transpose(hop);
  const LocalId *indptr = by_source.indptr.data(), *destination = by_source.destination.data();
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const RowList<float> rows{grad_out + k * channels, width, channels, destination};
      const auto weight = [&](std::int64_t t) {  // 0 for the masked edge of an entry i == j
        return terms.weights[(by_source.edge[static_cast<std::size_t>(t)] + std::int64_t{destination[t]}) * heads + k];
      };
      Sum<float> sum{indptr[j], indptr[j + 1], indptr[hop.num_src]};
      if (j < hop.num_dst) {
        sum.start = rows.x + j * width;
        sum.start_weight = terms.weights[(hop.indptr[j + 1] + j) * heads + k];
      }
      sum_rows(rows, sum, weight, grads.h + j * width + k * channels);
    }
  });
}

}  // namespace salient
