// sampler/race_choice.cpp - see race_choice.h.
//
// 32 entries at a time: eight Philox blocks have a word for each. Entries are candidates as in labor_choice.cpp; of a
// long row nearly none pass the limit. A finish is the bits of a positive float, which order as the floats do.
#include "sampler/race_choice.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "sampler/draw_lanes.h"
#include "sampler/race.h"

namespace salient {
namespace {

constexpr std::uint32_t kLanes = DrawLanes::kLanes, kVectors = 4, kChunk = kVectors * kLanes;
constexpr std::int32_t kNever = std::numeric_limits<std::int32_t>::max();  // of weight 0: behind infinity

/// race_length() of eight words. Oracle: that, in tests/sampler/race_test.cpp by reference_sample().
__m256 race_lengths(__m256i x) {
  const __m256 is_high = _mm256_castsi256_ps(_mm256_srai_epi32(x, 31));
  const __m256i folded = _mm256_xor_si256(x, _mm256_castps_si256(is_high));
  const __m256 y = _mm256_fmadd_ps(_mm256_cvtepi32_ps(folded), _mm256_set1_ps(0x1p-32F), _mm256_set1_ps(0x1p-33F));
  const __m256i bits = _mm256_castps_si256(y);
  const __m256i exponent = _mm256_and_si256(
      _mm256_srai_epi32(_mm256_sub_epi32(bits, _mm256_set1_epi32(kRaceLeastBits)), 23), _mm256_castps_si256(is_high));
  const __m256 m = _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(exponent, 23)));
  const __m256 one = _mm256_set1_ps(1);
  const __m256 above = _mm256_blendv_ps(y, _mm256_sub_ps(one, m), is_high);
  const __m256 below = _mm256_blendv_ps(_mm256_sub_ps(_mm256_set1_ps(2), y), _mm256_add_ps(one, m), is_high);
  const __m256 s = _mm256_div_ps(above, below), t = _mm256_mul_ps(s, s);
  __m256 series = _mm256_set1_ps(kRaceSeries[0]);
  for (int i = 1; i < 4; ++i) series = _mm256_fmadd_ps(series, t, _mm256_set1_ps(kRaceSeries[i]));
  const __m256 logarithm = _mm256_fmadd_ps(_mm256_mul_ps(s, t), series, _mm256_add_ps(s, s));
  const __m256 halvings = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_setzero_si256(), exponent));
  return _mm256_fmadd_ps(halvings, _mm256_set1_ps(kLn2), logarithm);
}

__m256i finishes(__m256i words, __m256 weights) {
  const __m256i finish = _mm256_castps_si256(_mm256_div_ps(race_lengths(words), weights));
  const __m256 is_zero = _mm256_cmp_ps(weights, _mm256_setzero_ps(), _CMP_EQ_OQ);
  return _mm256_blendv_epi8(finish, _mm256_set1_epi32(kNever), _mm256_castps_si256(is_zero));
}

/// The weights of places [place, place + kChunk) of a row; 0 outside of it, where `edge` gets them.
const float* weights_at(const WeightedRow& row, std::uint64_t place, float (&edge)[kChunk]) {
  if (place >= row.begin && place + kChunk <= row.end) return row.weights + place;
  const std::uint64_t first = std::max<std::uint64_t>(place, row.begin);
  const std::uint64_t last = std::min<std::uint64_t>(place + kChunk, row.end);
  std::fill_n(edge, kChunk, 0.F);
  std::copy(row.weights + first, row.weights + last, edge + (first - place));
  return edge;
}

/// Writes the finishes of these places. @return  bit i: that of place + i is not behind `limit`
unsigned finish_all(const WeightedRow& row, std::uint64_t place, const __m256i (&words)[kVectors], std::uint32_t limit,
                    std::int32_t (&found)[kChunk]) {
  float edge[kChunk];
  const float* const weights = weights_at(row, place, edge);
  const __m256i limits = _mm256_set1_epi32(static_cast<std::int32_t>(limit));
  unsigned passing = 0;
  for (std::uint32_t v = 0; v < kVectors; ++v) {
    const __m256i finish = finishes(words[v], _mm256_loadu_ps(weights + v * kLanes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(found + v * kLanes), finish);
    const __m256 is_behind = _mm256_castsi256_ps(_mm256_cmpgt_epi32(finish, limits));
    passing |= (~static_cast<unsigned>(_mm256_movemask_ps(is_behind)) & 0xFFU) << (v * kLanes);
  }
  return passing;
}

}  // namespace

std::uint32_t num_drawable(std::span<const float> weights, std::uint32_t limit) {
  std::uint32_t count = 0;
  std::size_t i = 0;
  for (; i + kLanes <= weights.size() && count < limit; i += kLanes) {
    const __m256 is_above = _mm256_cmp_ps(_mm256_loadu_ps(weights.data() + i), _mm256_setzero_ps(), _CMP_GT_OQ);
    count += static_cast<std::uint32_t>(std::popcount(static_cast<unsigned>(_mm256_movemask_ps(is_above))));
  }
  for (; i < weights.size() && count < limit; ++i) count += weights[i] > 0;
  return std::min(count, limit);
}

void RaceChoice::pick(const WeightedRow& row, std::uint32_t count, BatchKey key, std::uint32_t hop, NodeId dst,
                      const NodeId** picked) {
  constexpr std::size_t kLeast = 64;  // candidates before the first selection
  const std::size_t most = std::max(kLeast, std::size_t{2} * count) + kChunk;
  if (candidates_.size() < most) candidates_.resize(most);
  std::uint64_t* const first = candidates_.data();  // finish and place
  std::size_t size = 0;
  std::uint64_t limit = std::uint64_t{kNever} << 32;
  const auto keep_best = [&] {
    std::nth_element(first, first + count - 1, first + size);
    size = count;
    limit = first[count - 1];
  };
  for (std::uint64_t place = row.begin / 4 * 4; place < row.end; place += kChunk) {
    __m256i words[kVectors];
    DrawLanes::words_of_blocks(key, hop, dst, kFirstRaceBlock + static_cast<std::uint32_t>(place / 4), words);
    std::int32_t found[kChunk];
    unsigned passing = finish_all(row, place, words, static_cast<std::uint32_t>(limit >> 32), found);
    for (; passing != 0; passing &= passing - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(passing));
      first[size] = std::uint64_t{static_cast<std::uint32_t>(found[i])} << 32 | (place + i);
      size += first[size] < limit;
    }
    if (size + kChunk > most) keep_best();
  }
  if (size > count) keep_best();
  const auto by_place = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::uint32_t>(a) < static_cast<std::uint32_t>(b);
  };
  std::sort(first, first + count, by_place);
  for (std::uint32_t i = 0; i < count; ++i) picked[i] = row.entries + static_cast<std::uint32_t>(first[i]);
}

}  // namespace salient
