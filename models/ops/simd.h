// models/ops/simd.h - reading f16 and f32 values as f32, one or eight at a time; host code only.
#pragma once

#include <immintrin.h>

#include "engine/core/half.h"
#include "models/ops/half.h"

namespace salient {

inline float to_float(float x) { return x; }
inline float to_float(Half x) { return half_to_float(x.bits); }

inline __m256 load8(const float* x) { return _mm256_loadu_ps(x); }
inline __m256 load8(const Half* x) { return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x))); }

/// <x, y> over [count] values: eight partial sums, in a fixed order.
inline float dot(const float* x, const float* y, std::int64_t count) {
  __m256 sums = _mm256_setzero_ps();
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) sums = _mm256_fmadd_ps(load8(x + i), load8(y + i), sums);
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  float sum = _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
  for (; i < count; ++i) sum += x[i] * y[i];
  return sum;
}

}  // namespace salient
