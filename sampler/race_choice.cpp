// sampler/race_choice.cpp - see race_choice.h.
//
// 32 entries at a time: eight Philox blocks have a word for each. A finish is the bits of a positive float, which order
// as the floats do. Entries that may win are candidates, in the row's order. Where few are kept, they are cut to those
// by the rank of each among all, counted with vectors: with sorting, all of it took twice the time. Where many are kept
// they are cut as in labor_choice.cpp. Behind a cut, of a long row nearly no entry passes the worst of those kept.
#include "sampler/race_choice.h"

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

#include "sampler/draw_lanes.h"
#include "sampler/race.h"

namespace salient {
namespace {

constexpr std::uint32_t kLanes = DrawLanes::kLanes, kVectors = 4, kChunk = kVectors * kLanes;
constexpr std::uint32_t kMostFew = kChunk;
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
  constexpr RaceSeries kSeries;
  __m256 series = _mm256_set1_ps(kSeries.at[0]);
  for (int i = 1; i < 4; ++i) series = _mm256_fmadd_ps(series, t, _mm256_set1_ps(kSeries.at[i]));
  const __m256 logarithm = _mm256_fmadd_ps(_mm256_mul_ps(s, t), series, _mm256_add_ps(s, s));
  const __m256 halvings = _mm256_cvtepi32_ps(_mm256_sub_epi32(_mm256_setzero_si256(), exponent));
  return _mm256_fmadd_ps(halvings, _mm256_set1_ps(kLn2), logarithm);
}

__m256i finishes_of(__m256i words, __m256 weights) {
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

/// The finishes of kChunk places from `place` on; kNever outside of the row. Runs through blocks of a row.
void finish_all(const WeightedRow& row, std::uint64_t place, const RowDraws& draws, std::int32_t* finishes) {
  __m256i words[kVectors];
  DrawLanes::words_of_blocks(draws.key, draws.hop, draws.dst, kFirstRaceBlock + static_cast<std::uint32_t>(place / 4),
                             words);
  float edge[kChunk];
  const float* const weights = weights_at(row, place, edge);
  for (std::uint32_t v = 0; v < kVectors; ++v) {
    __m256i finish = _mm256_set1_epi32(kNever);
    if (place + v * kLanes < row.end) finish = finishes_of(words[v], _mm256_loadu_ps(weights + v * kLanes));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(finishes + v * kLanes), finish);
  }
}

/// Bit i: finishes[i] is before `limit`.
unsigned passing(const std::int32_t* finishes, std::int32_t limit) {
  unsigned bits = 0;
  for (std::uint32_t v = 0; v < kVectors; ++v) {
    const __m256i finish = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(finishes + v * kLanes));
    const __m256i is_before = _mm256_cmpgt_epi32(_mm256_set1_epi32(limit), finish);
    bits |= static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(is_before))) << (v * kLanes);
  }
  return bits;
}

/// Candidates of a row of which at most kMostFew are kept.
class FewCandidates {
 public:
  explicit FewCandidates(std::uint32_t count) : count_(count) {}

  /// The first chunk, of which `size` are in the row.
  void take_all(const std::int32_t* finishes, std::uint32_t place, std::uint32_t size) {
    std::copy_n(finishes, kChunk, finishes_);
    std::iota(places_, places_ + kChunk, place);
    size_ = size;
  }

  /// Of a chunk behind it those that may be kept.
  void take(const std::int32_t* finishes, std::uint32_t place) {
    for (unsigned bits = passing(finishes, limit_); bits != 0; bits &= bits - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
      finishes_[size_] = finishes[i];
      places_[size_++] = place + i;
    }
    if (size_ > kChunk) cut();
  }

  /// To the first `count`; of equal ones the first in the row.
  void cut() {
    if (size_ <= count_) return;
    std::fill(finishes_ + size_, finishes_ + (size_ + kChunk - 1) / kChunk * kChunk, kNever);
    std::uint64_t kept = size_ <= kChunk / 2 ? rank<kVectors / 2>(0) : rank<kVectors>(0);
    if (size_ > kChunk) kept |= rank<kVectors>(kChunk) << kChunk;
    if (static_cast<std::uint32_t>(std::popcount(kept)) > count_) [[unlikely]]
      kept = without_last_ties(kept);
    size_ = 0;
    limit_ = 0;
    for (; kept != 0; kept &= kept - 1, ++size_) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(kept));
      limit_ = std::max(limit_, finishes_[i]);
      finishes_[size_] = finishes_[i];
      places_[size_] = places_[i];
    }
  }

  std::span<const std::uint32_t> places() const { return {places_, size_}; }

 private:
  /// The ranks of N vectors from `first` on: how many candidates finish before each.
  /// @return  bit i: the rank of first + i is below `count`
  template <std::uint32_t N>
  std::uint64_t rank(std::uint32_t first) {
    __m256i finishes[N], ranks[N];
    for (std::uint32_t v = 0; v < N; ++v) {
      finishes[v] = _mm256_load_si256(reinterpret_cast<const __m256i*>(finishes_ + first + v * kLanes));
      ranks[v] = _mm256_setzero_si256();
    }
    for (std::uint32_t i = 0; i < size_; ++i) {
      const __m256i other = _mm256_set1_epi32(finishes_[i]);
      for (std::uint32_t v = 0; v < N; ++v)
        ranks[v] = _mm256_sub_epi32(ranks[v], _mm256_cmpgt_epi32(finishes[v], other));
    }
    std::uint64_t kept = 0;
    const __m256i count = _mm256_set1_epi32(static_cast<std::int32_t>(count_));
    for (std::uint32_t v = 0; v < N; ++v) {
      _mm256_store_si256(reinterpret_cast<__m256i*>(ranks_ + first + v * kLanes), ranks[v]);
      const __m256 is_kept = _mm256_castsi256_ps(_mm256_cmpgt_epi32(count, ranks[v]));
      kept |= std::uint64_t{static_cast<unsigned>(_mm256_movemask_ps(is_kept))} << (v * kLanes);
    }
    return kept;
  }

  /// Those kept that finish last are several, with one rank, and not all have room: the first in the row have.
  std::uint64_t without_last_ties(std::uint64_t kept) const {
    const auto each = [&](auto use) {
      for (std::uint64_t bits = kept; bits != 0; bits &= bits - 1) use(static_cast<unsigned>(std::countr_zero(bits)));
    };
    std::int32_t last = 0;
    each([&](unsigned i) { last = std::max(last, ranks_[i]); });
    std::uint32_t room = count_ - static_cast<std::uint32_t>(last);
    std::uint64_t without = kept;
    each([&](unsigned i) {
      if (ranks_[i] == last && room-- == 0) without &= ~(std::uint64_t{1} << i), ++room;
    });
    return without;
  }

  alignas(32) std::int32_t finishes_[2 * kChunk];
  alignas(32) std::int32_t ranks_[2 * kChunk];
  std::uint32_t places_[2 * kChunk];
  std::uint32_t count_, size_ = 0;
  std::int32_t limit_ = kNever;
};

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

void RaceChoice::pick(const WeightedRow& row, std::uint32_t count, const RowDraws& draws, const NodeId** picked) {
  const std::uint64_t start = row.begin / 4 * 4;
  if (count > kMostFew) return pick_many(row, count, draws, picked);
  std::int32_t finishes[kChunk];
  FewCandidates candidates(count);
  finish_all(row, start, draws, finishes);
  candidates.take_all(finishes, static_cast<std::uint32_t>(start),
                      static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunk, row.end - start)));
  if (start + kChunk < row.end) candidates.cut();
  for (std::uint64_t place = start + kChunk; place < row.end; place += kChunk) {
    finish_all(row, place, draws, finishes);
    candidates.take(finishes, static_cast<std::uint32_t>(place));
  }
  candidates.cut();
  for (const std::uint32_t place : candidates.places()) *picked++ = row.entries + place;
}

void RaceChoice::pick_many(const WeightedRow& row, std::uint32_t count, const RowDraws& draws, const NodeId** picked) {
  const std::size_t most = std::size_t{2} * count + kChunk;
  if (candidates_.size() < most) candidates_.resize(most);
  std::uint64_t* const first = candidates_.data();  // finish and place
  std::size_t size = 0;
  std::int32_t limit = kNever;
  const auto keep_best = [&] {
    std::nth_element(first, first + count - 1, first + size);
    size = count;
    limit = static_cast<std::int32_t>(first[count - 1] >> 32);
  };
  for (std::uint64_t place = row.begin / 4 * 4; place < row.end; place += kChunk) {
    std::int32_t finishes[kChunk];
    finish_all(row, place, draws, finishes);
    for (unsigned bits = passing(finishes, limit); bits != 0; bits &= bits - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(bits));
      first[size++] = std::uint64_t{static_cast<std::uint32_t>(finishes[i])} << 32 | (place + i);
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
