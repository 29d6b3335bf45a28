// engine/rank/ordered_product.cpp - see ordered_product.h.
//
// Tiles of 6 x 16 elements stay in registers while k runs from begin to end. The rows of a tile of `a`, and the columns
// of one of `b`, are copied to where the inner loop reads them one after another.
#include "engine/rank/ordered_product.h"

#include <immintrin.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/rank/for_each_item.h"

namespace salient {
namespace {

constexpr std::int64_t kTileRows = 6, kTileColumns = 16;

std::int64_t num_tiles(std::int64_t count, std::int64_t per_tile) { return (count + per_tile - 1) / per_tile; }

/// [inner][kTile] of the tile of rows that begins at `first`; what is beyond the matrix is 0.
template <std::int64_t kTile>
void pack(MatrixView matrix, std::int64_t first, std::int64_t num_rows, std::int64_t inner, float* out) {
  const std::int64_t here = std::min(kTile, num_rows - first);
  for (std::int64_t i = 0; i < kTile; ++i)
    for (std::int64_t k = 0; k < inner; ++k) out[k * kTile + i] = i < here ? matrix.at(first + i, k) : 0;
}

template <PairScore kKind>
__m256 step(__m256 a, __m256 b, __m256 sum) {
  if constexpr (kKind == PairScore::kDot) return _mm256_fmadd_ps(a, b, sum);
  const __m256 difference = _mm256_sub_ps(a, b);
  return _mm256_fmadd_ps(difference, difference, sum);
}

/// A tile of sums, in `sums` on entry and at the end.
template <PairScore kKind>
void add_tile(const float* a, const float* b, std::int64_t inner, float* sums) {
  __m256 low[kTileRows], high[kTileRows];
#pragma GCC unroll 6
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    low[i] = _mm256_load_ps(sums + i * kTileColumns);
    high[i] = _mm256_load_ps(sums + i * kTileColumns + 8);
  }
  for (std::int64_t k = 0; k < inner; ++k) {
    const __m256 b_low = _mm256_load_ps(b + k * kTileColumns), b_high = _mm256_load_ps(b + k * kTileColumns + 8);
#pragma GCC unroll 6
    for (std::int64_t i = 0; i < kTileRows; ++i) {
      const __m256 value = _mm256_broadcast_ss(a + k * kTileRows + i);
      low[i] = step<kKind>(value, b_low, low[i]);
      high[i] = step<kKind>(value, b_high, high[i]);
    }
  }
#pragma GCC unroll 6
  for (std::int64_t i = 0; i < kTileRows; ++i) {
    _mm256_store_ps(sums + i * kTileColumns, low[i]);
    _mm256_store_ps(sums + i * kTileColumns + 8, high[i]);
  }
}

struct Free {
  void operator()(float* data) const { std::free(data); }
};
using Floats = std::unique_ptr<float[], Free>;

Floats aligned_floats(std::int64_t count) {
  const std::size_t bytes = (static_cast<std::size_t>(std::max<std::int64_t>(count, 1)) * sizeof(float) + 63) / 64 * 64;
  auto* data = static_cast<float*>(std::aligned_alloc(64, bytes));
  if (data == nullptr) throw std::bad_alloc();
  return Floats(data);
}

/// @param b  element (j, k), j a column of the result
template <PairScore kKind>
void multiply(const ProductSize& size, MatrixView a, MatrixView b, float* out, std::int64_t out_row, bool adds) {
  const auto& [rows, columns, inner] = size;
  const std::int64_t row_tiles = num_tiles(rows, kTileRows);
  const Floats packed = aligned_floats(row_tiles * kTileRows * inner);
  for_each_item(row_tiles, 16, [&](std::int64_t t) {
    pack<kTileRows>(a, t * kTileRows, rows, inner, packed.get() + t * kTileRows * inner);
  });
  for_each_item(num_tiles(columns, kTileColumns), 1, [&](std::int64_t t) {
    const Floats panel = aligned_floats(kTileColumns * inner);
    alignas(32) float sums[kTileRows * kTileColumns];
    const std::int64_t first = t * kTileColumns, here = std::min(kTileColumns, columns - first);
    pack<kTileColumns>(b, first, columns, inner, panel.get());
    for (std::int64_t r = 0; r < row_tiles; ++r) {
      const std::int64_t top = r * kTileRows, tall = std::min(kTileRows, rows - top);
      std::fill(std::begin(sums), std::end(sums), 0.F);
      if (adds)
        for (std::int64_t i = 0; i < tall; ++i)
          std::copy_n(out + (top + i) * out_row + first, here, sums + i * kTileColumns);
      add_tile<kKind>(packed.get() + top * inner, panel.get(), inner, sums);
      for (std::int64_t i = 0; i < tall; ++i)
        for (std::int64_t j = 0; j < here; ++j) {
          const float sum = sums[i * kTileColumns + j];
          out[(top + i) * out_row + first + j] = kKind == PairScore::kDistance ? -std::sqrt(sum) : sum;
        }
    }
  });
}

}  // namespace

void ordered_product(const ProductSize& size, MatrixView a, MatrixView b, float* out, std::int64_t out_row, bool adds) {
  multiply<PairScore::kDot>(size, a, {b.data, b.column, b.row}, out, out_row, adds);
}

void pair_scores(PairScore kind, const ProductSize& size, MatrixView a, MatrixView b, float* out,
                 std::int64_t out_row) {
  if (kind == PairScore::kDot) return multiply<PairScore::kDot>(size, a, b, out, out_row, false);
  multiply<PairScore::kDistance>(size, a, b, out, out_row, false);
}

float pair_score(PairScore kind, const float* a, const float* b, std::int64_t inner) {
  float sum = 0;
  if (kind == PairScore::kDot) {
    for (std::int64_t k = 0; k < inner; ++k) sum = std::fma(a[k], b[k], sum);
    return sum;
  }
  for (std::int64_t k = 0; k < inner; ++k) {
    const float difference = a[k] - b[k];
    sum = std::fma(difference, difference, sum);
  }
  return -std::sqrt(sum);
}

}  // namespace salient
