// core/fp8.h - 8-bit floats of 4 bits of exponent and 3 of mantissa (e4m3) as their bits, to and from float and f16.
//
// By hand: host code of GCC 12 and clang 14 has no such type.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/half.h"

namespace salient {

inline constexpr float kFp8Max = 448.0F;           ///< the largest; there is no infinity
inline constexpr float kFp8LeastNormal = 0x1p-6F;  ///< below it a number has fewer than 4 significant bits
inline constexpr float kLeastFp8Scale = 0x1p-15F;  ///< with scales from here
inline constexpr float kLargestFp8Scale = 0x1p7F;  ///< to here every fp8 number times the scale is an f16 number

/// A power of two with which all products are f16 numbers.
constexpr bool is_fp8_scale(float scale) {
  return scale >= kLeastFp8Scale && scale <= kLargestFp8Scale && (std::bit_cast<std::uint32_t>(scale) & 0x7FFFFF) == 0;
}

constexpr bool is_fp8_nan(std::uint8_t bits) { return (bits & 0x7F) == 0x7F; }

/// Bits of the fp8 nearest to `value`, ties to even; the largest one beyond it; a NaN stays one.
constexpr std::uint8_t float_to_fp8(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 24 & 0x80, magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<std::uint8_t>(sign | 0x7F);
  if (magnitude >= 0x43E00000) return static_cast<std::uint8_t>(sign | 0x7E);
  if (magnitude >= 0x3C800000)  // normal as fp8: rebias the exponent, drop 20 mantissa bits
    return static_cast<std::uint8_t>(sign | without_low_bits(magnitude - (120U << 23), 20));
  const std::uint32_t dropped = 141 - (magnitude >> 23);  // subnormal: a multiple of 2^-9
  if (dropped > 24) return static_cast<std::uint8_t>(sign);
  return static_cast<std::uint8_t>(sign | without_low_bits((magnitude & 0x7FFFFF) | 0x800000, dropped));
}

/// out[i] = the fp8 nearest to values[i] / scale. @param scale  of which is_fp8_scale() holds
inline void floats_to_fp8(const float* values, std::size_t count, float scale, std::byte* out) {
  for (std::size_t i = 0; i < count; ++i) out[i] = std::byte{float_to_fp8(values[i] / scale)};
}

/// The float that equals these fp8 bits.
constexpr float fp8_to_float(std::uint8_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x80) << 24;
  const std::uint32_t exponent = bits >> 3 & 0xF, mantissa = bits & 7;
  if (is_fp8_nan(bits)) return std::bit_cast<float>(sign | 0x7FC00000);
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 120) << 23 | mantissa << 20);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-9F;
  return sign != 0 ? -magnitude : magnitude;
}

#if defined(__F16C__) && defined(__AVX2__)
/// 16 fp8 numbers, none a NaN, times a scale, as f16. @param factors  256 times the scale, in each lane
inline __m256i sixteen_fp8_as_half(const std::uint8_t* values, __m256 factors) {
  const __m256i wide = _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
  const __m256i magnitude = _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x7F)), 7);
  const __m256i sign = _mm256_slli_epi16(_mm256_and_si256(wide, _mm256_set1_epi16(0x80)), 8);
  const __m256i halves = _mm256_or_si256(magnitude, sign);  // the numbers times 2^-8: the exponent has another bias
  const auto scaled = [&](__m128i eight) {
    return _mm256_cvtps_ph(_mm256_mul_ps(_mm256_cvtph_ps(eight), factors), _MM_FROUND_TO_NEAREST_INT);
  };
  const __m128i low = scaled(_mm256_castsi256_si128(halves)), high = scaled(_mm256_extracti128_si256(halves, 1));
  return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
#endif

/// out[i] = the f16 that equals values[i] * scale. @param scale  of which is_fp8_scale() holds; no value is a NaN
inline void fp8_to_halves(const std::uint8_t* values, std::size_t count, float scale, std::uint16_t* out) {
  std::size_t i = 0;
#if defined(__F16C__) && defined(__AVX2__)
  const __m256 factors = _mm256_set1_ps(256 * scale);
  for (; i + 16 <= count; i += 16)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i), sixteen_fp8_as_half(values + i, factors));
#endif
  for (; i < count; ++i) out[i] = float_to_half(fp8_to_float(values[i]) * scale);
}

}  // namespace salient
