// models/kernels/dropout.cpp - dropout on the host: eight Philox blocks, 64 columns, at a time in AVX2 registers; where
// p is 1/2, one block for 128 columns.
#include "models/kernels/dropout.h"

#include <immintrin.h>

#include "models/kernels/parallel.h"

namespace salient {
namespace {

constexpr std::int64_t kElementsPerTask = 1 << 14;

struct WideProduct {
  __m256i low;
  __m256i high;
};

/// 32 x 32 -> 64 bits in eight lanes.
WideProduct multiply(__m256i a, __m256i factor) {
  const __m256i even = _mm256_mul_epu32(a, factor);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), factor);
  return {_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA),
          _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA)};
}

/// philox4x32() in eight lanes, each with its own counter.
struct WideBlock {
  __m256i word[4];
};

WideBlock philox_in_lanes(PhiloxKey key, WideBlock c) {
  const __m256i factor_a = _mm256_set1_epi64x(0xD2511F53);
  const __m256i factor_b = _mm256_set1_epi64x(0xCD9E8D57);
  for (int round = 0; round < 10; ++round) {
    const WideProduct a = multiply(c.word[0], factor_a);
    const WideProduct b = multiply(c.word[2], factor_b);
    const __m256i key0 = _mm256_set1_epi32(static_cast<int>(key.word[0]));
    const __m256i key1 = _mm256_set1_epi32(static_cast<int>(key.word[1]));
    c = {{_mm256_xor_si256(_mm256_xor_si256(b.high, c.word[1]), key0), b.low,
          _mm256_xor_si256(_mm256_xor_si256(a.high, c.word[3]), key1), a.low}};
    key.word[0] += 0x9E3779B9;
    key.word[1] += 0xBB67AE85;
  }
  return c;
}

/// The draws of columns [64 k, 64 k + 64) of one row: element b holds the eight 16-bit draws of columns 64 k + 8 b ...
void draw_64_columns(const DropoutMask& mask, std::uint32_t node, std::uint32_t k, __m128i draws[8]) {
  const __m256i eights =
      _mm256_add_epi32(_mm256_set1_epi32(static_cast<int>(8 * k)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  const auto all = [](std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); };
  const WideBlock w =
      philox_in_lanes({{mask.seed, mask.step}}, {{all(node), eights, all(mask.layer), all(0x44524F50)}});
  const __m256i low01 = _mm256_unpacklo_epi32(w.word[0], w.word[1]),
                high01 = _mm256_unpackhi_epi32(w.word[0], w.word[1]);
  const __m256i low23 = _mm256_unpacklo_epi32(w.word[2], w.word[3]),
                high23 = _mm256_unpackhi_epi32(w.word[2], w.word[3]);
  const __m256i blocks[4] = {_mm256_unpacklo_epi64(low01, low23), _mm256_unpackhi_epi64(low01, low23),
                             _mm256_unpacklo_epi64(high01, high23), _mm256_unpackhi_epi64(high01, high23)};
  for (int b = 0; b < 4; ++b) {  // 128-bit half 0 holds lane b, half 1 lane b + 4
    draws[b] = _mm256_castsi256_si128(blocks[b]);
    draws[b + 4] = _mm256_extracti128_si256(blocks[b], 1);
  }
}

/// Which of eight neighbouring columns are kept, as lanes of ones; to be asked from the first column on.
class KeptOf16Bits {
 public:
  KeptOf16Bits(const DropoutMask& mask, std::uint32_t node)
      : mask_(mask), node_(node), last_dropped_(_mm256_set1_epi32(static_cast<int>(mask.threshold) - 1)) {}

  __m256i at(std::int64_t column) {
    if (column % 64 == 0) draw_64_columns(mask_, node_, static_cast<std::uint32_t>(column / 64), draws_);
    return _mm256_cmpgt_epi32(_mm256_cvtepu16_epi32(draws_[column % 64 / 8]), last_dropped_);
  }

 private:
  const DropoutMask& mask_;
  std::uint32_t node_;
  __m256i last_dropped_;
  __m128i draws_[8];
};

/// The same for p = 1/2.
class KeptHalves {
 public:
  KeptHalves(const DropoutMask& mask, std::uint32_t node) : mask_(mask), node_(node) {}

  __m256i at(std::int64_t column) {
    if (column % 128 == 0) bits_ = dropout_bits(mask_, node_, static_cast<std::uint32_t>(column / 128));
    const __m256i of_lane = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    const std::uint32_t eight = bits_.word[column % 128 / 32] >> column % 32;
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(eight)), of_lane), of_lane);
  }

 private:
  const DropoutMask& mask_;
  std::uint32_t node_;
  PhiloxBlock bits_{};
};

/// @param out  its pointers are those of this row
template <class Kept>
void dropout_row(const DropoutMask& mask, Activation activation, const float* x, std::uint32_t node,
                 std::int64_t columns, const DroppedRows& out) {
  Kept kept(mask, node);
  const __m256 scale = _mm256_set1_ps(mask.scale);
  const __m256 floor = activation == Activation::kRelu ? _mm256_setzero_ps() : _mm256_set1_ps(-__builtin_inff());
  for (std::int64_t column = 0; column < columns; column += 8) {
    const __m256i keep = kept.at(column);
    const auto apply = [&](__m256 v) {
      return _mm256_and_ps(_mm256_mul_ps(_mm256_max_ps(floor, v), scale), _mm256_castsi256_ps(keep));
    };
    __m256 values;
    if (column + 8 <= columns) {
      values = apply(_mm256_loadu_ps(x + column));
      _mm256_storeu_ps(out.values + column, values);
    } else {
      const __m256i inside = _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(columns - column)),
                                                _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
      values = apply(_mm256_maskload_ps(x + column, inside));
      _mm256_maskstore_ps(out.values + column, inside, values);
    }
    if (out.positive != nullptr)
      out.positive[column / 8] =
          static_cast<std::uint8_t>(_mm256_movemask_ps(_mm256_cmp_ps(values, _mm256_setzero_ps(), _CMP_GT_OQ)));
  }
}

/// Where row `i` of the result goes.
DroppedRows row_of(const DroppedRows& out, std::int64_t i, std::int64_t columns) {
  return {out.values + i * columns, out.positive == nullptr ? nullptr : out.positive + i * ((columns + 7) / 8)};
}

}  // namespace

void dropout(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out) {
  const std::int64_t columns = in.columns;
  if (columns == 0) return;
  const auto row = mask.threshold == kHalfOfDraws ? dropout_row<KeptHalves> : dropout_row<KeptOf16Bits>;
  parallel_rows(in.rows, kElementsPerTask / columns + 1, [&](std::int64_t i) {
    row(mask, activation, in.x + i * columns, in.nodes[i], columns, row_of(out, i, columns));
  });
}

void scale_where_positive(const PositiveBits& positive, const float* x, float scale, float* out) {
  const std::int64_t columns = positive.columns, eights = (columns + 7) / 8;
  if (columns == 0) return;
  parallel_rows(positive.rows, kElementsPerTask / columns + 1, [&](std::int64_t i) {
    const std::uint8_t* const bits = positive.bits + i * eights;
    for (std::int64_t c = 0; c < columns; ++c)
      out[i * columns + c] = (bits[c / 8] >> (c % 8) & 1) != 0 ? scale * x[i * columns + c] : 0.0f;
  });
}

void dropout_reference(const DropoutMask& mask, Activation activation, const NodeRows& in, const DroppedRows& out) {
  for (std::int64_t i = 0; i < in.rows; ++i) {
    const DroppedRows row = row_of(out, i, in.columns);
    for (std::int64_t c = 0; c < in.columns; ++c) {
      const auto column = static_cast<std::uint32_t>(c);
      const float value = in.x[i * in.columns + c];
      const float activated = activation == Activation::kRelu && value < 0 ? 0.0f : value;
      const bool kept = is_kept(mask, in.nodes[i], column);
      row.values[c] = kept ? activated * mask.scale : 0.0f;
      if (row.positive == nullptr) continue;
      if (c % 8 == 0) row.positive[c / 8] = 0;
      if (row.values[c] > 0) row.positive[c / 8] |= static_cast<std::uint8_t>(1U << (c % 8));
    }
  }
}

}  // namespace salient
