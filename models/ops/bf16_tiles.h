// models/ops/bf16_tiles.h - rows rounded to bfloat16, as the kernels of a product read them; see bf16_product.cpp.
#pragma once

#include <immintrin.h>

#include <cstdint>

#define SALIENT_AVX512_BF16 [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]]

namespace salient {

inline constexpr std::int64_t kLanes = 16;
inline constexpr __mmask16 kAll = 0xFFFF;  // gcc 12 takes what unmasked conversions leave out for uninitialised

enum class FactorType : std::uint8_t { kF32, kF16, kBf16 };

/// Rows of a factor; `stride` is in elements.
struct FactorRows {
  const void* data;
  std::int64_t stride;
  FactorType type;

  const void* at(std::int64_t row, std::int64_t column) const {
    const std::int64_t bytes = type == FactorType::kF32 ? 4 : 2;
    return static_cast<const char*>(data) + (row * stride + column) * bytes;
  }
};

/// The first `count` of 16 values as bfloat16, others 0. Rounded to nearest, ties to even.
SALIENT_AVX512_BF16 inline __m256i rounded(const void* x, FactorType type, std::int64_t count) {
  const auto mask = static_cast<__mmask16>(count >= kLanes ? 0xFFFF : (1 << count) - 1);
  if (type == FactorType::kBf16) return _mm256_maskz_loadu_epi16(mask, x);
  const __m512 values = type == FactorType::kF32 ? _mm512_maskz_loadu_ps(mask, x)
                                                 : _mm512_maskz_cvtph_ps(kAll, _mm256_maskz_loadu_epi16(mask, x));
  return (__m256i)_mm512_cvtneps_pbh(values);
}

/// out[0, count), and zeros up to `padded`, a multiple of 16.
SALIENT_AVX512_BF16 inline void round_row(std::uint16_t* out, const void* x, FactorType type, std::int64_t count,
                                          std::int64_t padded) {
  const std::int64_t bytes = type == FactorType::kF32 ? 4 : 2;
  for (std::int64_t i = 0; i < padded; i += kLanes) {
    const std::int64_t left = count > i ? count - i : 0;
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i),
                        rounded(static_cast<const char*>(x) + (left > 0 ? i * bytes : 0), type, left));
  }
}

/// Words of two numbers, of `low` and of `high` (which may be null: zeros); `padded` of them, those from `count` on 0.
SALIENT_AVX512_BF16 inline void pair_rows(std::uint32_t* out, const void* low, const void* high, FactorType type,
                                          std::int64_t count, std::int64_t padded) {
  const std::int64_t bytes = type == FactorType::kF32 ? 4 : 2;
  for (std::int64_t i = 0; i < padded; i += kLanes) {
    const std::int64_t left = count > i ? count - i : 0, offset = left > 0 ? i * bytes : 0;
    __m512i words = _mm512_maskz_cvtepu16_epi32(kAll, rounded(static_cast<const char*>(low) + offset, type, left));
    if (high != nullptr) {
      const __m256i upper = rounded(static_cast<const char*>(high) + offset, type, left);
      words = _mm512_or_si512(words, _mm512_maskz_slli_epi32(kAll, _mm512_maskz_cvtepu16_epi32(kAll, upper), 16));
    }
    _mm512_storeu_si512(out + i, words);
  }
}

/// out[j][i] = in[i][j] for 16 by 16 words; strides in words. Rows i and i + 8 are interleaved, four times: each turns
/// the eight bits of a word's place by one.
SALIENT_AVX512_BF16 inline void transpose_words(std::uint32_t* out, std::int64_t out_stride, const std::uint32_t* in,
                                                std::int64_t in_stride) {
  const __m512i lower = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const __m512i upper = _mm512_add_epi32(lower, _mm512_set1_epi32(8));
  __m512i rows[16], next[16];
  for (int i = 0; i < 16; ++i) rows[i] = _mm512_loadu_si512(in + i * in_stride);
#pragma GCC unroll 4
  for (int turn = 0; turn < 4; ++turn) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) {
      next[2 * i] = _mm512_permutex2var_epi32(rows[i], lower, rows[i + 8]);
      next[2 * i + 1] = _mm512_permutex2var_epi32(rows[i], upper, rows[i + 8]);
    }
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) rows[i] = next[i];
  }
  for (int i = 0; i < 16; ++i) _mm512_storeu_si512(out + i * out_stride, rows[i]);
}

}  // namespace salient
