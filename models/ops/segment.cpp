// models/ops/segment.cpp - neighbour sums on the host, bound by memory bandwidth.
//
// A destination's sum is built in registers, up to 64 columns at a time, so that every neighbour's row is read once and
// the result written once. The rows lie anywhere in x: they are fetched kPrefetchedBytes ahead of use, across the ends
// of destinations, as the edge array is contiguous. The backward pass is the same loop over the edges grouped by source.
#include "models/ops/segment.h"

#include <algorithm>

#include "models/ops/parallel.h"
#include "models/ops/simd.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 64;
constexpr std::int64_t kPrefetchedBytes = 4096;
constexpr std::int64_t kLineBytes = 64;

/// Rows of a matrix, and which of them to add: entry e stands for weight_of[index_of[e]] * x[index_of[e], :].
template <class T>
struct Rows {
  const T* x;
  std::int64_t width;
  const LocalId* index_of;
  const float* weight_of;  ///< nullptr = all 1

  const T* at(LocalId entry) const { return x + std::int64_t{index_of[entry]} * width; }
  float weight(LocalId entry) const { return weight_of == nullptr ? 1.0f : weight_of[index_of[entry]]; }
};

/// Entries that make one sum; `ahead` entries further on are prefetched, none at or past `end_of_all`.
struct Span {
  LocalId first;
  LocalId last;
  LocalId ahead;
  LocalId end_of_all;
};

template <class T>
void prefetch(const Rows<T>& rows, LocalId entry) {
  const char* row = reinterpret_cast<const char*>(rows.at(entry));
  for (std::int64_t b = 0; b < rows.width * std::int64_t{sizeof(T)}; b += kLineBytes) __builtin_prefetch(row + b);
}

/// out[column .. column + 8 * kVectors) = scale * sum over the span.
template <std::size_t kVectors, class T>
void sum_columns(const Rows<T>& rows, Span span, std::int64_t column, float scale, float* out) {
  __m256 sum[kVectors];
  for (__m256& s : sum) s = _mm256_setzero_ps();
  for (LocalId e = span.first; e < span.last; ++e) {
    if (column == 0 && e + span.ahead < span.end_of_all) prefetch(rows, e + span.ahead);
    const T* row = rows.at(e) + column;
    const __m256 weight = _mm256_set1_ps(rows.weight(e));
    for (std::size_t v = 0; v < kVectors; ++v) sum[v] = _mm256_fmadd_ps(weight, load8(row + 8 * v), sum[v]);
  }
  for (std::size_t v = 0; v < kVectors; ++v)
    _mm256_storeu_ps(out + column + 8 * v, _mm256_mul_ps(sum[v], _mm256_set1_ps(scale)));
}

template <class T>
void sum_rows(const Rows<T>& rows, Span span, float scale, float* out) {
  std::int64_t column = 0;
  for (; column + 64 <= rows.width; column += 64) sum_columns<8>(rows, span, column, scale, out);
  for (; column + 32 <= rows.width; column += 32) sum_columns<4>(rows, span, column, scale, out);
  for (; column + 8 <= rows.width; column += 8) sum_columns<1>(rows, span, column, scale, out);
  if (column == rows.width) return;
  if (rows.width >= 8) return sum_columns<1>(rows, span, rows.width - 8, scale, out);  // some columns a second time
  for (; column < rows.width; ++column) {
    float sum = 0;
    for (LocalId e = span.first; e < span.last; ++e)
      sum = __builtin_fmaf(rows.weight(e), to_float(rows.at(e)[column]), sum);
    out[column] = sum * scale;
  }
}

/// out[i, :] = scale(i) * sum of the entries [indptr[i], indptr[i + 1]).
template <class T, class Scale>
void sum_segments(const LocalId* indptr, std::int64_t num_segments, const Rows<T>& rows, const Scale& scale,
                  float* out) {
  const std::int64_t row_bytes = std::max<std::int64_t>(1, rows.width * std::int64_t{sizeof(T)});
  const auto ahead = static_cast<LocalId>(std::max<std::int64_t>(1, kPrefetchedBytes / row_bytes));
  parallel_rows(num_segments, kRowsPerTask, [&](std::int64_t i) {
    sum_rows(rows, {indptr[i], indptr[i + 1], ahead, indptr[num_segments]}, scale(i), out + i * rows.width);
  });
}

}  // namespace

template <class T>
void segment_reduce(const HopEdges& hop, Reduce reduce, const T* x, std::int64_t width, float* out) {
  const Rows<T> rows{x, width, hop.indices, nullptr};
  sum_segments(
      hop.indptr, hop.num_dst, rows, [&](std::int64_t i) { return row_scale(hop, reduce, i); }, out);
}

void segment_reduce_backward(const HopEdges& hop, Reduce reduce, const float* grad_out, std::int64_t width,
                             float* grad_x) {
  std::vector<float> scale_of(static_cast<std::size_t>(hop.num_dst));
  for (std::int64_t i = 0; i < hop.num_dst; ++i) scale_of[static_cast<std::size_t>(i)] = row_scale(hop, reduce, i);
  const TransposedHop by_source = transpose(hop);
  const Rows<float> rows{grad_out, width, by_source.destination.data(), scale_of.data()};
  sum_segments(
      by_source.indptr.data(), hop.num_src, rows, [](std::int64_t) { return 1.0f; }, grad_x);
}

TransposedHop transpose(const HopEdges& hop) {
  const auto num_edges = static_cast<std::size_t>(hop.num_dst == 0 ? 0 : hop.indptr[hop.num_dst]);
  TransposedHop by_source{std::vector<LocalId>(static_cast<std::size_t>(hop.num_src) + 1, 0),
                          std::vector<LocalId>(num_edges), std::vector<LocalId>(num_edges)};
  for (std::size_t e = 0; e < num_edges; ++e) ++by_source.indptr[static_cast<std::size_t>(hop.indices[e]) + 1];
  for (std::size_t j = 1; j < by_source.indptr.size(); ++j) by_source.indptr[j] += by_source.indptr[j - 1];
  std::vector<LocalId> next(by_source.indptr.begin(), by_source.indptr.end() - 1);
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    for (LocalId e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e) {
      const auto at = static_cast<std::size_t>(next[static_cast<std::size_t>(hop.indices[e])]++);
      by_source.destination[at] = static_cast<LocalId>(i);
      by_source.edge[at] = e;
    }
  return by_source;
}

template void segment_reduce<float>(const HopEdges&, Reduce, const float*, std::int64_t, float*);
template void segment_reduce<Half>(const HopEdges&, Reduce, const Half*, std::int64_t, float*);

}  // namespace salient
