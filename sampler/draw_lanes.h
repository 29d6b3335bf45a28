// sampler/draw_lanes.h - the draws of eight destinations at a time, with AVX2; host code only.
//
// By hand: Random123 has no AVX2 form of Philox.
#pragma once

#include <immintrin.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/philox.h"
#include "sampler/draws.h"

namespace salient {

/// Draw d of Draws(key, hop, dst[lane]), for eight lanes and d < kMaxDraws, to the last bit. One after the other, the
/// draws took a third of the sampler's time; eight Philox blocks in vector registers cost little more than one.
class DrawLanes {
 public:
  static constexpr std::size_t kLanes = 8;
  static constexpr std::uint32_t kMaxDraws = 64;

  /// Computes draws [0, num_draws) of each lane, or the kMaxDraws that there is room for.
  /// @param dst  [kLanes] global ids
  void fill(BatchKey key, std::uint32_t hop, const NodeId* dst, std::uint32_t num_draws) {
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(dst));
    const __m256i hops = all(hop), batches = all(key.batch);
    for (std::uint32_t draw = 0; draw < std::min(num_draws, kMaxDraws); draw += 4)
      philox({{key.seed, key.epoch}}, lanes, hops, batches, all(draw / 4), words_ + draw * kLanes);
  }

  /// The same for draws of several slots. @param words  [kLanes] in the place of the hop
  void fill(BatchKey key, const std::uint32_t* words, const NodeId* dst, std::uint32_t num_draws) {
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(dst));
    const __m256i hops = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)), batches = all(key.batch);
    for (std::uint32_t draw = 0; draw < std::min(num_draws, kMaxDraws); draw += 4)
      philox({{key.seed, key.epoch}}, lanes, hops, batches, all(draw / 4), words_ + draw * kLanes);
  }

  /// shared_number() of eight neighbours. @param neighbors  [kLanes]   @param numbers  [kLanes]
  static void shared_numbers(BatchKey key, std::uint32_t hop, const NodeId* neighbors, std::uint32_t* numbers) {
    alignas(32) std::uint32_t words[4 * kLanes];
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(neighbors));
    philox({{key.seed, key.epoch}}, lanes, all(hop), all(key.batch), all(0xFFFFFFFF), words);
    std::copy_n(words, kLanes, numbers);
  }

  /// As Draws::below(draw, bound) of the lane's destination.
  /// @param draws  the same draws one by one, for those that are not here and for the rare one that is rejected
  std::uint32_t below(std::size_t lane, std::uint32_t draw, std::uint32_t bound, Draws& draws) const {
    if (draw >= kMaxDraws) [[unlikely]]
      return draws.below(draw, bound);
    const std::uint64_t product = std::uint64_t{words_[draw * kLanes + lane]} * bound;
    if (static_cast<std::uint32_t>(product) < bound) [[unlikely]]
      return draws.below(draw, bound);
    return static_cast<std::uint32_t>(product >> 32);
  }

 private:
  static __m256i all(std::uint32_t value) { return _mm256_set1_epi32(static_cast<int>(value)); }

  /// Eight products of 32 bits each: `high` and `low` halves.
  static void multiply(__m256i x, __m256i factor, __m256i& high, __m256i& low) {
    const __m256i even = _mm256_mul_epu32(x, factor), odd = _mm256_mul_epu32(_mm256_srli_epi64(x, 32), factor);
    constexpr int kOddLanes = 0xAA;
    high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, kOddLanes);
    low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), kOddLanes);
  }

  /// philox4x32() of eight counters. @param words  [4, kLanes]
  /// Oracle:  philox4x32(), in tests/sampler/draws_test.cpp.
  static void philox(PhiloxKey key, __m256i c0, __m256i c1, __m256i c2, __m256i c3, std::uint32_t* words) {
    const __m256i factor_a = all(0xD2511F53), factor_b = all(0xCD9E8D57);
    for (int round = 0; round < 10; ++round) {
      __m256i high_a, low_a, high_b, low_b;
      multiply(c0, factor_a, high_a, low_a);
      multiply(c2, factor_b, high_b, low_b);
      c0 = _mm256_xor_si256(_mm256_xor_si256(high_b, c1), all(key.word[0]));
      c1 = low_b;
      c2 = _mm256_xor_si256(_mm256_xor_si256(high_a, c3), all(key.word[1]));
      c3 = low_a;
      key.word[0] += 0x9E3779B9;  // 2^32 / golden ratio
      key.word[1] += 0xBB67AE85;  // 2^32 * (sqrt(3) - 1)
    }
    auto* const out = reinterpret_cast<__m256i*>(words);
    _mm256_store_si256(out, c0);
    _mm256_store_si256(out + 1, c1);
    _mm256_store_si256(out + 2, c2);
    _mm256_store_si256(out + 3, c3);
  }

  alignas(32) std::uint32_t words_[kMaxDraws * kLanes];
};

}  // namespace salient
