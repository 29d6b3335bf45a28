// models/kernels/gatv2_logits.cpp - see gatv2_logits.h. Rows of z are what costs; logits are scalars beside them.
#include "models/kernels/gatv2_logits.h"

#include <algorithm>

#include "models/kernels/parallel.h"
#include "models/kernels/simd.h"

namespace salient {

void gatv2_logits(const HopEdges& hop, const Gatv2Inputs& in, float* logits) {
  const std::int64_t heads = in.shape.heads, channels = in.shape.channels, width = in.shape.width();
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    for (std::int64_t k = 0; k < heads; ++k) {
      const float* own = in.z_dst + i * width + k * channels;
      for_each_edge(
          hop, i,
          [&](std::int64_t j, std::int64_t edge) {
            const float* other = in.z_src + j * width + k * channels;
            logits[edge * heads + k] = leaky_dot({in.att + k * channels, other, own, in.slope, channels});
          },
          [&](std::int64_t edge) { logits[edge * heads + k] = kMaskedLogit; });
    }
  });
}

void gatv2_logits_backward(const HopEdges& hop, const Gatv2Inputs& in, const float* grad_logits,
                           const Gatv2Gradients& grads) {
  const std::int64_t heads = in.shape.heads, channels = in.shape.channels, width = in.shape.width();
  parallel_rows(num_parts(hop.num_dst), 4, [&](std::int64_t part) {
    float* part_sum = grads.att + part * width;
    std::fill_n(part_sum, width, 0.0f);
    for (std::int64_t i = part * kRowsPerPart; i < std::min((part + 1) * kRowsPerPart, hop.num_dst); ++i) {
      const float* own = in.z_dst + i * width;
      float* own_grad = grads.z_dst + i * width;
      std::fill_n(own_grad, width, 0.0f);
      const auto add = [&](std::int64_t j, std::int64_t edge) {
        const float* other = in.z_src + j * width;
        for (std::int64_t k = 0, c = 0; k < heads; ++k, c += channels)
          add_leaky_dot_gradients<true>({in.att + c, other + c, own + c, in.slope, channels},
                                        grad_logits[edge * heads + k], own_grad + c, part_sum + c);
      };
      for_each_edge(hop, i, add, [](std::int64_t) {});
    }
  });
  const TransposedHop by_source = transpose(hop);
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    const float* own = in.z_src + j * width;
    float* own_grad = grads.z_src + j * width;
    std::fill_n(own_grad, width, 0.0f);
    const auto add = [&](std::int64_t i, std::int64_t edge) {
      const float* other = in.z_dst + i * width;
      for (std::int64_t k = 0, c = 0; k < heads; ++k, c += channels)
        add_leaky_dot_gradients<false>({in.att + c, other + c, own + c, in.slope, channels},
                                       grad_logits[edge * heads + k], own_grad + c);
    };
    for_each_edge_of_source(hop, by_source, j, add);
  });
}

}  // namespace salient
