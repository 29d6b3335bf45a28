// core/half.h - IEEE half precision (f16) as its 16 bits, to and from float, rounded to nearest even.
//
// By hand: clang 14 has no _Float16 in host code for x86.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace salient {

inline constexpr float kHalfMax = 65504.0F;  ///< the largest finite f16

/// mantissa / 2^dropped, rounded to the nearest integer, ties to even. @param dropped  [1, 31]
constexpr std::uint32_t without_low_bits(std::uint32_t mantissa, std::uint32_t dropped) {
  const std::uint32_t kept = mantissa >> dropped, rest = mantissa & ((1U << dropped) - 1), half = 1U << (dropped - 1);
  return kept + (rest > half || (rest == half && kept % 2 == 1));
}

/// Bits of the f16 nearest to `value`, ties to even; beyond 65520 infinity; a NaN stays a (quiet) NaN.
constexpr std::uint16_t float_to_half_reference(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000;
  const std::uint32_t magnitude = bits & 0x7FFFFFFF;
  if (magnitude > 0x7F800000) return static_cast<std::uint16_t>(sign | 0x7E00 | (magnitude >> 13 & 0x3FF));
  if (magnitude >= 0x477FF000) return static_cast<std::uint16_t>(sign | 0x7C00);
  if (magnitude >= 0x38800000)  // normal as f16: rebias the exponent, drop 13 mantissa bits
    return static_cast<std::uint16_t>(sign | without_low_bits(magnitude - (112U << 23), 13));
  const std::uint32_t dropped = 126 - (magnitude >> 23);  // subnormal: a multiple of 2^-24
  if (dropped > 24) return static_cast<std::uint16_t>(sign);
  return static_cast<std::uint16_t>(sign | without_low_bits((magnitude & 0x7FFFFF) | 0x800000, dropped));
}

/// The float that equals these f16 bits.
constexpr float half_to_float_reference(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1F, mantissa = bits & 0x3FF;
  if (exponent == 31)
    return std::bit_cast<float>(sign | 0x7F800000 | mantissa << 13 | (mantissa != 0 ? 0x400000U : 0U));
  if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return sign != 0 ? -magnitude : magnitude;
}

/// As their references, by one instruction where the CPU has it. Oracle: the references, over all 65,536 halves.
inline std::uint16_t float_to_half(float value) {
#if defined(__F16C__)
  return static_cast<std::uint16_t>(_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT));
#else
  return float_to_half_reference(value);
#endif
}
inline float half_to_float(std::uint16_t bits) {
#if defined(__F16C__)
  return _cvtsh_ss(bits);
#else
  return half_to_float_reference(bits);
#endif
}

/// out[i] = float_to_half(values[i]), eight at a time. @param out  [count], any alignment of 2 bytes.
inline void floats_to_halves(const float* values, std::size_t count, std::uint16_t* out) {
  std::size_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= count; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(values + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < count; ++i) out[i] = float_to_half(values[i]);
}

}  // namespace salient
