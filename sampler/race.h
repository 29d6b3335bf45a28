// sampler/race.h - the number by which an entry of a row races for its place, whose law Draw::kWeighted is.
#pragma once

#include <cstdint>

#include "core/philox.h"
#include "core/types.h"
#include "sampler/draws.h"

namespace salient {

/// (2 atanh(s) - 2 s) / s^3 as a polynomial of s^2, highest power first, for s up to 1/3: with it 2 atanh(s) is right
/// to 2^-27.
struct RaceSeries {
  float at[4] = {0.2801198661F, 0.2800180614F, 0.4002152681F, 0.6666641831F};
};
inline constexpr float kLn2 = 0.693147182F;
/// Bits of the least m that race_length() takes, sqrt(1/2); the largest is twice that.
inline constexpr std::int32_t kRaceLeastBits = 0x3F3504F3;

/// -ln(1 - (x + 1/2) / 2^32): of uniform x the time of an event of rate 1, above 0 and at most 23. Small times come
/// from small x and keep the 24 bits of a float: an error below 4 units in the last place, anywhere.
///
/// Only operations that IEEE 754 rounds, and explicit fma: equal bits on every machine, with vectors (race_choice.cpp)
/// and on a GPU.
/// Algorithm: k ln 2 + 2 atanh(s), with k = 0 for x < 2^31. Above, 1 - y = (~x + 1/2) / 2^32 = 2^-k m, m near 1.
SALIENT_HOST_DEVICE inline float race_length(std::uint32_t x) {
  const bool is_low = x < 0x80000000U;
  const float y = __builtin_fmaf(static_cast<float>(static_cast<std::int32_t>(is_low ? x : ~x)), 0x1p-32F, 0x1p-33F);
  const auto bits = __builtin_bit_cast(std::int32_t, y);  // std::bit_cast is not for a device
  const std::int32_t exponent = is_low ? 0 : (bits - kRaceLeastBits) >> 23;
  const float m = __builtin_bit_cast(float, bits - exponent * (1 << 23));
  const float s = (is_low ? y : 1 - m) / (is_low ? 2 - y : 1 + m), t = s * s;
  constexpr RaceSeries kSeries;
  float series = kSeries.at[0];
  for (int i = 1; i < 4; ++i) series = __builtin_fmaf(series, t, kSeries.at[i]);
  return __builtin_fmaf(static_cast<float>(-exponent), kLn2, __builtin_fmaf(s * t, series, s + s));
}

inline constexpr std::uint32_t kFirstRaceBlock = 0x80000000U;

/// The random word of the entry at a place of the row of `dst`: word place % 4 of block 2^31 + place / 4, which no
/// other draw of the hop reads.
SALIENT_HOST_DEVICE inline std::uint32_t race_word(BatchKey key, std::uint32_t hop, NodeId dst, std::uint32_t place) {
  return philox4x32({{key.seed, key.epoch}}, {{dst, hop, key.batch, kFirstRaceBlock + place / 4}}).word[place % 4];
}

}  // namespace salient
