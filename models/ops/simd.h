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

}  // namespace salient
