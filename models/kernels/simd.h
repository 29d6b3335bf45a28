// models/kernels/simd.h - reading f16 and f32 values as f32, one or eight at a time; host code only.
#pragma once

#include <immintrin.h>

#include "core/half.h"
#include "models/kernels/half.h"

namespace salient {

inline float to_float(float x) { return x; }
inline float to_float(Half x) { return half_to_float(x.bits); }

inline __m256 load8(const float* x) { return _mm256_loadu_ps(x); }
inline __m256 load8(const Half* x) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))); }

/// The sum of eight values, pairs first.
inline float horizontal_sum(__m256 values) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(values), _mm256_extractf128_ps(values, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// <x, y> over [count] values: eight partial sums, in a fixed order.
inline float dot(const float* x, const float* y, std::int64_t count) {
  __m256 sums = _mm256_setzero_ps();
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) sums = _mm256_fmadd_ps(load8(x + i), load8(y + i), sums);
  float sum = horizontal_sum(sums);
  for (; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

/// Arrays of [count] values, and the slope of leaky_relu's negative side, in (0, 1).
struct LeakyDot {
  const float* att;
  const float* x;
  const float* y;
  float slope;
  std::int64_t count;
};

/// <att, leaky_relu(x + y)>, in dot()'s order.
inline float leaky_dot(const LeakyDot& in) {
  const __m256 slopes = _mm256_set1_ps(in.slope);
  __m256 sums = _mm256_setzero_ps();
  std::int64_t i = 0;
  for (; i + 8 <= in.count; i += 8) {
    const __m256 raw = _mm256_add_ps(load8(in.x + i), load8(in.y + i));
    sums = _mm256_fmadd_ps(load8(in.att + i), _mm256_max_ps(raw, _mm256_mul_ps(slopes, raw)), sums);
  }
  float sum = horizontal_sum(sums);
  for (; i < in.count; ++i) {
    const float raw = in.x[i] + in.y[i];
    sum += in.att[i] * (raw > 0 ? raw : in.slope * raw);
  }
  return sum;
}

/// What leaky_dot() adds to the gradients of y and, if wanted, of att for one edge; nothing overlaps:
///   grad_y[c]   += grad * att[c] * (x[c] + y[c] > 0 ? 1 : slope)
///   grad_att[c] += grad * leaky_relu(x[c] + y[c])
template <bool kWithAtt>
void add_leaky_dot_gradients(const LeakyDot& in, float grad, float* __restrict__ grad_y,
                             [[maybe_unused]] float* __restrict__ grad_att = nullptr) {
  const __m256 slopes = _mm256_set1_ps(in.slope), ones = _mm256_set1_ps(1), grads = _mm256_set1_ps(grad);
  std::int64_t i = 0;
  for (; i + 8 <= in.count; i += 8) {
    const __m256 raw = _mm256_add_ps(load8(in.x + i), load8(in.y + i));
    const __m256 is_positive = _mm256_cmp_ps(raw, _mm256_setzero_ps(), _CMP_GT_OQ);
    const __m256 scaled = _mm256_mul_ps(grads, _mm256_blendv_ps(slopes, ones, is_positive));
    _mm256_storeu_ps(grad_y + i, _mm256_fmadd_ps(scaled, load8(in.att + i), load8(grad_y + i)));
    if constexpr (kWithAtt) _mm256_storeu_ps(grad_att + i, _mm256_fmadd_ps(scaled, raw, load8(grad_att + i)));
  }
  for (; i < in.count; ++i) {
    const float raw = in.x[i] + in.y[i], scaled = raw > 0 ? grad : in.slope * grad;
    grad_y[i] += scaled * in.att[i];
    if constexpr (kWithAtt) grad_att[i] += scaled * raw;
  }
}

}  // namespace salient
