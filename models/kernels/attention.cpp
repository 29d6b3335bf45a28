// models/kernels/attention.cpp - attention on the host. Rows of h are what costs; slots are scalars beside them.
#include "models/kernels/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "models/kernels/parallel.h"
#include "models/kernels/weighted_rows.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 64;

/// f(source, slot) for the entries of row i in order, then for i itself; an entry that is i has an empty slot.
template <class F, class Empty>
void for_each_slot(const HopEdges& hop, std::int64_t i, const F& f, const Empty& empty) {
  for (std::int64_t e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e)
    hop.indices[e] == i ? empty(e + i) : f(std::int64_t{hop.indices[e]}, e + i);
  f(i, hop.indptr[i + 1] + i);
}

/// f(destination, slot) for every slot of source j, in a fixed order.
template <class F>
void for_each_slot_of_source(const HopEdges& hop, const TransposedHop& by_source, std::int64_t j, const F& f) {
  const auto at = [](const std::vector<LocalId>& v, std::int64_t i) {
    return std::int64_t{v[static_cast<std::size_t>(i)]};
  };
  for (std::int64_t t = at(by_source.indptr, j); t < at(by_source.indptr, j + 1); ++t) {
    const std::int64_t i = at(by_source.destination, t);
    if (i != j) f(i, at(by_source.edge, t) + i);
  }
  if (j < hop.num_dst) f(j, hop.indptr[j + 1] + j);
}

float leaky(float x, float slope) { return x > 0 ? x : slope * x; }

}  // namespace

void gat_logits(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src, const float* score_dst,
                float* logits) {
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k)
      for_each_slot(
          hop, i,
          [&](std::int64_t j, std::int64_t slot) {
            logits[slot * heads + k] = leaky(score_src[j * heads + k] + score_dst[i * heads + k], slope);
          },
          [&](std::int64_t slot) { logits[slot * heads + k] = -std::numeric_limits<float>::infinity(); });
  });
}

void gat_logits_backward(const HopEdges& hop, std::int64_t heads, float slope, const float* score_src,
                         const float* score_dst, const float* grad_logits, float* grad_src, float* grad_dst) {
  const auto grad_of = [&](std::int64_t i, std::int64_t j, std::int64_t slot, std::int64_t k) {
    const float grad = grad_logits[slot * heads + k];
    return score_src[j * heads + k] + score_dst[i * heads + k] > 0 ? grad : slope * grad;
  };
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      float sum = 0;
      const auto add = [&](std::int64_t j, std::int64_t slot) { sum += grad_of(i, j, slot, k); };
      for_each_slot(hop, i, add, [](std::int64_t) {});
      grad_dst[i * heads + k] = sum;
    }
  });
  const TransposedHop by_source = transpose(hop);
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    for (std::int64_t k = 0; k < heads; ++k) {
      float sum = 0;
      const auto add = [&](std::int64_t i, std::int64_t slot) { sum += grad_of(i, j, slot, k); };
      for_each_slot_of_source(hop, by_source, j, add);
      grad_src[j * heads + k] = sum;
    }
  });
}

void gatv2_logits(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                  const float* att, float* logits) {
  const std::int64_t heads = shape.heads, channels = shape.channels, width = shape.width();
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const float* own = z_dst + i * width + k * channels;
      for_each_slot(
          hop, i,
          [&](std::int64_t j, std::int64_t slot) {
            const float* other = z_src + j * width + k * channels;
            logits[slot * heads + k] = leaky_dot(att + k * channels, other, own, slope, channels);
          },
          [&](std::int64_t slot) { logits[slot * heads + k] = -std::numeric_limits<float>::infinity(); });
    }
  });
}

void gatv2_logits_backward(const HopEdges& hop, Heads shape, float slope, const float* z_src, const float* z_dst,
                           const float* att, const float* grad_logits, float* grad_src, float* grad_dst,
                           float* grad_att) {
  const std::int64_t heads = shape.heads, channels = shape.channels, width = shape.width();
  parallel_rows(num_parts(hop.num_dst), 4, [&](std::int64_t part) {
    float* part_sum = grad_att + part * width;
    std::fill_n(part_sum, width, 0.0f);
    for (std::int64_t i = part * kRowsPerPart; i < std::min((part + 1) * kRowsPerPart, hop.num_dst); ++i) {
      const float* own = z_dst + i * width;
      float* own_grad = grad_dst + i * width;
      std::fill_n(own_grad, width, 0.0f);
      const auto add = [&](std::int64_t j, std::int64_t slot) {
        const float* other = z_src + j * width;
        for (std::int64_t k = 0, c = 0; k < heads; ++k, c += channels)
          add_leaky_dot_gradients<true>(grad_logits[slot * heads + k], att + c, other + c, own + c, slope, channels,
                                        own_grad + c, part_sum + c);
      };
      for_each_slot(hop, i, add, [](std::int64_t) {});
    }
  });
  const TransposedHop by_source = transpose(hop);
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    const float* own = z_src + j * width;
    float* own_grad = grad_src + j * width;
    std::fill_n(own_grad, width, 0.0f);
    const auto add = [&](std::int64_t i, std::int64_t slot) {
      const float* other = z_dst + i * width;
      for (std::int64_t k = 0, c = 0; k < heads; ++k, c += channels)
        add_leaky_dot_gradients<false>(grad_logits[slot * heads + k], att + c, other + c, own + c, slope, channels,
                                       own_grad + c);
    };
    for_each_slot_of_source(hop, by_source, j, add);
  });
}

void slot_softmax(const HopEdges& hop, std::int64_t heads, float* slots) {
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    const std::int64_t first = hop.indptr[i] + i, last = hop.indptr[i + 1] + i + 1;
    for (std::int64_t k = 0; k < heads; ++k) {
      float largest = -std::numeric_limits<float>::infinity(), total = 0;
      for (std::int64_t s = first; s < last; ++s) largest = std::max(largest, slots[s * heads + k]);
      for (std::int64_t s = first; s < last; ++s)
        total += slots[s * heads + k] = std::exp(slots[s * heads + k] - largest);
      for (std::int64_t s = first; s < last; ++s) slots[s * heads + k] /= total;
    }
  });
}

void slot_softmax_backward(const HopEdges& hop, std::int64_t heads, const float* weights, float* grad) {
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    const std::int64_t first = hop.indptr[i] + i, last = hop.indptr[i + 1] + i + 1;
    for (std::int64_t k = 0; k < heads; ++k) {
      float mean = 0;
      for (std::int64_t s = first; s < last; ++s) mean += weights[s * heads + k] * grad[s * heads + k];
      for (std::int64_t s = first; s < last; ++s)
        grad[s * heads + k] = weights[s * heads + k] * (grad[s * heads + k] - mean);
    }
  });
}

void slot_sum(const HopEdges& hop, Heads shape, const float* weights, const float* h, float* out) {
  const std::int64_t heads = shape.heads, width = shape.width();
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const RowList<float> rows{h + k * shape.channels, width, shape.channels, hop.indices};
      const auto weight = [&](std::int64_t e) { return weights[(e + i) * heads + k]; };
      const float own_weight = weight(hop.indptr[i + 1]);
      const Sum<float> sum{hop.indptr[i],      hop.indptr[i + 1], hop.indptr[hop.num_dst], 1,
                           rows.x + i * width, own_weight};
      sum_rows(rows, sum, weight, out + i * width + k * shape.channels);
    }
  });
}

void slot_sum_backward(const HopEdges& hop, Heads shape, const float* weights, const float* h, const float* grad_out,
                       float* grad_weights, float* grad_h) {
  const std::int64_t heads = shape.heads, channels = shape.channels, width = shape.width();
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const float* grad = grad_out + i * width + k * channels;
      for_each_slot(
          hop, i,
          [&](std::int64_t j, std::int64_t slot) {
            grad_weights[slot * heads + k] = dot(grad, h + j * width + k * channels, channels);
          },
          [&](std::int64_t slot) { grad_weights[slot * heads + k] = 0; });
    }
  });
  const TransposedHop by_source = transpose(hop);
  const LocalId *indptr = by_source.indptr.data(), *destination = by_source.destination.data();
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const RowList<float> rows{grad_out + k * channels, width, channels, destination};
      const auto weight = [&](std::int64_t t) {  // 0 for the empty slot of an entry i == j
        return weights[(by_source.edge[static_cast<std::size_t>(t)] + std::int64_t{destination[t]}) * heads + k];
      };
      Sum<float> sum{indptr[j], indptr[j + 1], indptr[hop.num_src]};
      if (j < hop.num_dst) {
        sum.start = rows.x + j * width;
        sum.start_weight = weights[(hop.indptr[j + 1] + j) * heads + k];
      }
      sum_rows(rows, sum, weight, grad_h + j * width + k * channels);
    }
  });
}

}  // namespace salient
