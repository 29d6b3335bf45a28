// models/kernels/weighted_rows.h - the loop under the host's neighbour operators: a weighted sum of scattered rows.
//
// A sum is built in registers, up to 64 columns at a time, so that every row is read once and the result written once.
// Rows are fetched kPrefetchedBytes ahead of use, across the ends of sums, as the array of their numbers is contiguous.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/types.h"
#include "models/kernels/simd.h"

namespace salient {

/// Rows of a matrix and which of them to add: entry e is row index_of[e].
template <class T>
struct RowList {
  const T* x;
  std::int64_t stride;  ///< values from one row to the next
  std::int64_t width;   ///< columns to add, from x on
  const LocalId* index_of;

  const T* at(std::int64_t entry) const { return x + std::int64_t{index_of[entry]} * stride; }
};

/// Entries [first, last) make one sum; none at or past `end_of_all` is prefetched. A `start` row, if not null, is added
/// before them with its own weight.
template <class T>
struct Sum {
  std::int64_t first;
  std::int64_t last;
  std::int64_t end_of_all;
  float scale = 1;
  const T* start = nullptr;
  float start_weight = 0;
};

inline constexpr std::int64_t kPrefetchedBytes = 4096;

template <class T>
void prefetch_row(const RowList<T>& rows, std::int64_t entry) {
  const char* row = reinterpret_cast<const char*>(rows.at(entry));
  for (std::int64_t b = 0; b < rows.width * std::int64_t{sizeof(T)}; b += 64) __builtin_prefetch(row + b);
}

/// out[column .. column + 8 * kVectors) = scale * (start_weight * start + sum of weight(e) * row e).
template <std::size_t kVectors, class T, class Weight>
void sum_columns(const RowList<T>& rows, const Sum<T>& s, const Weight& weight, std::int64_t column, float* out) {
  const std::int64_t row_bytes = rows.width * std::int64_t{sizeof(T)};
  const std::int64_t ahead = std::max<std::int64_t>(1, kPrefetchedBytes / row_bytes);
  __m256 sum[kVectors];
  for (std::size_t v = 0; v < kVectors; ++v)
    sum[v] = s.start == nullptr ? _mm256_setzero_ps()
                                : _mm256_mul_ps(_mm256_set1_ps(s.start_weight), load8(s.start + column + 8 * v));
  for (std::int64_t e = s.first; e < s.last; ++e) {
    if (column == 0 && e + ahead < s.end_of_all) prefetch_row(rows, e + ahead);
    const T* row = rows.at(e) + column;
    const __m256 factor = _mm256_set1_ps(weight(e));
    for (std::size_t v = 0; v < kVectors; ++v) sum[v] = _mm256_fmadd_ps(factor, load8(row + 8 * v), sum[v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v)
    _mm256_storeu_ps(out + column + 8 * v, _mm256_mul_ps(sum[v], _mm256_set1_ps(s.scale)));
}

/// out[0 .. width) = the sum; terms are added in order, in f32.
template <class T, class Weight>
void sum_rows(const RowList<T>& rows, const Sum<T>& s, const Weight& weight, float* out) {
  std::int64_t column = 0;
  for (; column + 64 <= rows.width; column += 64) sum_columns<8>(rows, s, weight, column, out);
  for (; column + 32 <= rows.width; column += 32) sum_columns<4>(rows, s, weight, column, out);
  for (; column + 8 <= rows.width; column += 8) sum_columns<1>(rows, s, weight, column, out);
  if (column == rows.width) return;
  if (rows.width >= 8) return sum_columns<1>(rows, s, weight, rows.width - 8, out);  // some columns a second time
  for (; column < rows.width; ++column) {
    float sum = s.start == nullptr ? 0 : s.start_weight * to_float(s.start[column]);
    for (std::int64_t e = s.first; e < s.last; ++e) sum = __builtin_fmaf(weight(e), to_float(rows.at(e)[column]), sum);
    out[column] = sum * s.scale;
  }
}

}  // namespace salient
