// models/kernels/sparse_product.cpp - products of sparse rows on the host: weighted sums of rows, see weighted_rows.h.
// The backward pass is the same loop over the values of a column.
#include "models/kernels/sparse_product.h"

#include <algorithm>
#include <cmath>

#include "models/kernels/parallel.h"
#include "models/kernels/weighted_rows.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 32;

}  // namespace

template <class T>
void sparse_product(const SparseRowsOf<T>& x, const float* matrix, std::int64_t width, float* out) {
  const RowList<float> rows{matrix, width, width, x.columns};
  const auto weight = [&](std::int64_t k) { return to_float(x.values[k]); };
  parallel_rows(x.num_rows, kRowsPerTask, [&](std::int64_t i) {
    sum_rows(rows, Sum<float>{x.begin[i], x.begin[i + 1], x.begin[x.num_rows]}, weight, out + i * width);
  });
}

template <class T>
void sparse_product_backward(const SparseRowsOf<T>& x, const SourceEdges& by_column, const float* grad,
                             std::int64_t width, float* out) {
  const RowList<float> rows{grad, width, width, by_column.destination};
  const auto weight = [&](std::int64_t t) { return to_float(x.values[by_column.edge[t]]); };
  parallel_rows(x.num_columns, kRowsPerTask, [&](std::int64_t c) {
    const LocalId *const first = by_column.destination + by_column.indptr[c], *const end = by_column.destination +
                                                                                           by_column.indptr[c + 1];
    const std::int64_t last = std::lower_bound(first, end, x.num_rows) - by_column.destination;
    sum_rows(rows, Sum<float>{by_column.indptr[c], last, last}, weight, out + c * width);
  });
}

template <class T>
void sparse_product_reference(const SparseRowsOf<T>& x, const float* matrix, std::int64_t width, float* out) {
  for (std::int64_t i = 0; i < x.num_rows; ++i)
    for (std::int64_t c = 0; c < width; ++c) {
      float sum = 0;
      for (LocalId k = x.begin[i]; k < x.begin[i + 1]; ++k)
        sum = std::fma(to_float(x.values[k]), matrix[x.columns[k] * width + c], sum);
      out[i * width + c] = sum;
    }
}

template <class T>
void sparse_product_backward_reference(const SparseRowsOf<T>& x, const float* grad, std::int64_t width, float* out) {
  std::fill_n(out, x.num_columns * width, 0.0f);
  for (std::int64_t i = 0; i < x.num_rows; ++i)
    for (LocalId k = x.begin[i]; k < x.begin[i + 1]; ++k)
      for (std::int64_t c = 0; c < width; ++c) {
        float& sum = out[x.columns[k] * width + c];
        sum = std::fma(to_float(x.values[k]), grad[i * width + c], sum);
      }
}

template void sparse_product_reference<float>(const SparseRowsOf<float>&, const float*, std::int64_t, float*);
template void sparse_product_reference<Half>(const SparseRowsOf<Half>&, const float*, std::int64_t, float*);
template void sparse_product_backward_reference<float>(const SparseRowsOf<float>&, const float*, std::int64_t, float*);
template void sparse_product_backward_reference<Half>(const SparseRowsOf<Half>&, const float*, std::int64_t, float*);
template void sparse_product<float>(const SparseRowsOf<float>&, const float*, std::int64_t, float*);
template void sparse_product<Half>(const SparseRowsOf<Half>&, const float*, std::int64_t, float*);
template void sparse_product_backward<float>(const SparseRowsOf<float>&, const SourceEdges&, const float*, std::int64_t,
                                             float*);
template void sparse_product_backward<Half>(const SparseRowsOf<Half>&, const SourceEdges&, const float*, std::int64_t,
                                            float*);

}  // namespace salient
