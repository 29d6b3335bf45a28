// models/kernels/segment_reference.cpp - the slow versions that define the right answer.
#include <algorithm>
#include <cmath>

#include "models/kernels/segment.h"
#include "models/kernels/simd.h"

namespace salient {

template <class T>
void segment_reduce_reference(const HopEdges& hop, const Reduction& reduction, const T* x, std::int64_t width,
                              float* out) {
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (std::int64_t c = 0; c < width; ++c) {
      float sum = 0;
      for (LocalId e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e) {
        const LocalId j = hop.indices[e];
        sum = std::fma(weight_of(reduction, j), to_float(x[j * width + c]), sum);
      }
      out[i * width + c] = sum * row_scale(hop, reduction.reduce, i);
    }
}

void segment_reduce_backward_reference(const HopEdges& hop, const Reduction& reduction, const float* grad_out,
                                       std::int64_t width, float* grad_x) {
  std::fill_n(grad_x, hop.num_src * width, 0.0f);
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (LocalId e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e)
      for (std::int64_t c = 0; c < width; ++c) {
        float& sum = grad_x[hop.indices[e] * width + c];
        sum = std::fma(row_scale(hop, reduction.reduce, i), grad_out[i * width + c], sum);
      }
  for (std::int64_t j = 0; j < hop.num_src; ++j)
    for (std::int64_t c = 0; c < width; ++c) grad_x[j * width + c] *= weight_of(reduction, j);
}

template <class T>
void segment_max_reference(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner) {
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (std::int64_t c = 0; c < width; ++c) {
      const auto value = [&](LocalId e) { return to_float(x[hop.indices[e] * width + c]); };
      LocalId best = hop.indptr[i] == hop.indptr[i + 1] ? -1 : hop.indptr[i];
      for (LocalId e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e)
        if (value(e) > value(best)) best = e;
      out[i * width + c] = best < 0 ? 0 : value(best);
      winner[i * width + c] = best;
    }
}

void segment_max_backward_reference(const HopEdges& hop, const LocalId* winner, const float* grad_out,
                                    std::int64_t width, float* grad_x) {
  std::fill_n(grad_x, hop.num_src * width, 0.0f);
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (std::int64_t c = 0; c < width; ++c)
      if (const LocalId e = winner[i * width + c]; e >= 0)
        grad_x[hop.indices[e] * width + c] += grad_out[i * width + c];
}

template void segment_max_reference<float>(const HopEdges&, const float*, std::int64_t, float*, LocalId*);
template void segment_max_reference<Half>(const HopEdges&, const Half*, std::int64_t, float*, LocalId*);
template void segment_reduce_reference<float>(const HopEdges&, const Reduction&, const float*, std::int64_t, float*);
template void segment_reduce_reference<Half>(const HopEdges&, const Reduction&, const Half*, std::int64_t, float*);

}  // namespace salient
