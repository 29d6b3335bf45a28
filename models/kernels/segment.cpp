// models/kernels/segment.cpp - neighbour sums on the host, bound by memory bandwidth: see weighted_rows.h.
// The backward pass is the same loop over the edges grouped by source.
#include "models/kernels/segment.h"

#include <algorithm>

#include "models/kernels/parallel.h"
#include "models/kernels/transpose.h"
#include "models/kernels/weighted_rows.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 64;

/// Entries [first, last) of one row; none at or past `end_of_all` is prefetched.
struct EntryRange {
  LocalId first;
  LocalId last;
  LocalId end_of_all;
};

/// The largest values of eight columns, from `column` on, over the entries of a row, and the first entry that has each.
template <class T>
void max_of_columns(const RowList<T>& rows, const EntryRange& entries, std::int64_t column, float* out,
                    LocalId* winner) {
  const std::int64_t ahead = std::max<std::int64_t>(1, kPrefetchedBytes / (rows.width * std::int64_t{sizeof(T)}));
  __m256 best = load8(rows.at(entries.first) + column);
  __m256i best_entry = _mm256_set1_epi32(entries.first);
  for (LocalId e = entries.first + 1; e < entries.last; ++e) {
    if (column == 0 && e + ahead < entries.end_of_all) prefetch_row(rows, e + ahead);
    const __m256 value = load8(rows.at(e) + column);
    const __m256 is_better = _mm256_cmp_ps(value, best, _CMP_GT_OQ);
    best = _mm256_blendv_ps(best, value, is_better);
    best_entry = _mm256_blendv_epi8(best_entry, _mm256_set1_epi32(e), _mm256_castps_si256(is_better));
  }
  _mm256_storeu_ps(out + column, best);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(winner + column), best_entry);
}

}  // namespace

template <class T>
void segment_reduce(const HopEdges& hop, const Reduction& reduction, const T* x, std::int64_t width, float* out) {
  const RowList<T> rows{x, width, width, hop.indices};
  const auto reduce = [&](const auto& weight) {
    parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
      const Sum<T> sum{hop.indptr[i], hop.indptr[i + 1], hop.indptr[hop.num_dst], row_scale(hop, reduction.reduce, i)};
      sum_rows(rows, sum, weight, out + i * width);
    });
  };
  const float* weights = reduction.weight_of_source;
  if (weights == nullptr) return reduce([](std::int64_t) { return 1.0f; });
  reduce([&](std::int64_t e) { return weights[hop.indices[e]]; });
}

void segment_reduce_backward(const HopEdges& hop, const Reduction& reduction, const float* grad_out, std::int64_t width,
                             float* grad_x) {
  std::vector<float> scale_of(static_cast<std::size_t>(hop.num_dst));
  for (std::int64_t i = 0; i < hop.num_dst; ++i)
    scale_of[static_cast<std::size_t>(i)] = row_scale(hop, reduction.reduce, i);
  const TransposedHop by_source = transpose(hop);
  const LocalId *indptr = by_source.indptr.data(), *destination = by_source.destination.data();
  const RowList<float> rows{grad_out, width, width, destination};
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    const Sum<float> sum{indptr[j], indptr[j + 1], indptr[hop.num_src], weight_of(reduction, j)};
    const auto weight = [&](std::int64_t e) { return scale_of[static_cast<std::size_t>(destination[e])]; };
    sum_rows(rows, sum, weight, grad_x + j * width);
  });
}

template <class T>
void segment_max(const HopEdges& hop, const T* x, std::int64_t width, float* out, LocalId* winner) {
  const RowList<T> rows{x, width, width, hop.indices};
  parallel_rows(hop.num_dst, kRowsPerTask, [&](std::int64_t i) {
    const LocalId first = hop.indptr[i], last = hop.indptr[i + 1];
    float* row = out + i * width;
    LocalId* row_winner = winner + i * width;
    if (first == last) {
      std::fill_n(row, width, 0.0f);
      std::fill_n(row_winner, width, LocalId{-1});
      return;
    }
    std::int64_t column = 0;
    for (; column + 8 <= width; column += 8)
      max_of_columns(rows, {first, last, hop.indptr[hop.num_dst]}, column, row, row_winner);
    for (; column < width; ++column) {
      row_winner[column] = first;
      row[column] = to_float(rows.at(first)[column]);
      for (LocalId e = first + 1; e < last; ++e)
        if (const float value = to_float(rows.at(e)[column]); value > row[column]) {
          row[column] = value;
          row_winner[column] = e;
        }
    }
  });
}

void segment_max_backward(const HopEdges& hop, const LocalId* winner, const float* grad_out, std::int64_t width,
                          float* grad_x) {
  const TransposedHop by_source = transpose(hop);
  parallel_rows(hop.num_src, kRowsPerTask, [&](std::int64_t j) {
    float* sum = grad_x + j * width;
    std::fill_n(sum, width, 0.0f);
    const auto at = [j](const std::vector<LocalId>& v, std::int64_t k) { return v[static_cast<std::size_t>(j + k)]; };
    for (auto t = static_cast<std::size_t>(at(by_source.indptr, 0));
         t < static_cast<std::size_t>(at(by_source.indptr, 1)); ++t) {
      const LocalId edge = by_source.edge[t];
      const LocalId* won = winner + by_source.destination[t] * width;
      const float* grad = grad_out + by_source.destination[t] * width;
      for (std::int64_t c = 0; c < width; ++c) sum[c] += won[c] == edge ? grad[c] : 0.0f;
    }
  });
}

template void segment_max<float>(const HopEdges&, const float*, std::int64_t, float*, LocalId*);
template void segment_max<Half>(const HopEdges&, const Half*, std::int64_t, float*, LocalId*);
template void segment_reduce<float>(const HopEdges&, const Reduction&, const float*, std::int64_t, float*);
template void segment_reduce<Half>(const HopEdges&, const Reduction&, const Half*, std::int64_t, float*);

}  // namespace salient
