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
      store(philox({{key.seed, key.epoch}}, lanes, hops, batches, all(draw / 4)), words_ + draw * kLanes);
  }

  /// The same for draws of several slots. @param words  [kLanes] in the place of the hop
  void fill(BatchKey key, const std::uint32_t* words, const NodeId* dst, std::uint32_t num_draws) {
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(dst));
    const __m256i hops = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(words)), batches = all(key.batch);
    for (std::uint32_t draw = 0; draw < std::min(num_draws, kMaxDraws); draw += 4)
      store(philox({{key.seed, key.epoch}}, lanes, hops, batches, all(draw / 4)), words_ + draw * kLanes);
  }

  /// shared_number() of eight neighbours. @param neighbors  [kLanes]   @param numbers  [kLanes]
  static void shared_numbers(BatchKey key, std::uint32_t hop, const NodeId* neighbors, std::uint32_t* numbers) {
    alignas(32) std::uint32_t words[4 * kLanes];
    const __m256i lanes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(neighbors));
    store(philox({{key.seed, key.epoch}}, lanes, all(hop), all(key.batch), all(0xFFFFFFFF)), words);
    std::copy_n(words, kLanes, numbers);
  }

  /// The words of eight blocks in a row of the counters (dst, hop, batch, block). @param words  [8, 4]
  static void words_of_blocks(BatchKey key, std::uint32_t hop, NodeId dst, std::uint32_t first_block,
                              __m256i (&words)[4]) {
    const __m256i blocks = _mm256_add_epi32(all(first_block), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    const auto [a, b, c, d] = philox({{key.seed, key.epoch}}, all(dst), all(hop), all(key.batch), blocks).word;
    const __m256i low_ab = _mm256_unpacklo_epi32(a, b), high_ab = _mm256_unpackhi_epi32(a, b);
    const __m256i low_cd = _mm256_unpacklo_epi32(c, d), high_cd = _mm256_unpackhi_epi32(c, d);
    const __m256i of_04 = _mm256_unpacklo_epi64(low_ab, low_cd), of_15 = _mm256_unpackhi_epi64(low_ab, low_cd);
    const __m256i of_26 = _mm256_unpacklo_epi64(high_ab, high_cd), of_37 = _mm256_unpackhi_epi64(high_ab, high_cd);
    constexpr int kLowHalves = 0x20, kHighHalves = 0x31;
    words[0] = _mm256_permute2x128_si256(of_04, of_15, kLowHalves);
    words[1] = _mm256_permute2x128_si256(of_26, of_37, kLowHalves);
    words[2] = _mm256_permute2x128_si256(of_04, of_15, kHighHalves);
    words[3] = _mm256_permute2x128_si256(of_26, of_37, kHighHalves);
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

  /// Word i of eight blocks.
  struct Blocks {
    __m256i word[4];
  };

  /// @param words  [4, kLanes]
  static void store(const Blocks& blocks, std::uint32_t* words) {
    for (int i = 0; i < 4; ++i) _mm256_store_si256(reinterpret_cast<__m256i*>(words) + i, blocks.word[i]);
  }

  /// philox4x32() of eight counters.
  /// Oracle:  philox4x32(), in tests/sampler/draws_test.cpp.
  static Blocks philox(PhiloxKey key, __m256i c0, __m256i c1, __m256i c2, __m256i c3) {
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
    return {{c0, c1, c2, c3}};
  }

  alignas(32) std::uint32_t words_[kMaxDraws * kLanes];
};

}  // namespace salient
