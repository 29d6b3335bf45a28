// models/kernels/sparse_product.h - sparse rows times a matrix: the first layer of a model of sparse features.
// By hand: cuSPARSE and MKL keep a transposed copy or sum in any order, and take no f16 values beside an f32 matrix.
#pragma once

#include <cstdint>

#include "core/types.h"
#include "models/kernels/half.h"
#include "models/kernels/hop_edges.h"

namespace salient {

/// Row i has values[k] in columns[k] for begin[i] <= k < begin[i + 1]. Borrows the arrays.
template <class T>
struct SparseRowsOf {
  const LocalId* begin;    ///< [num_rows + 1]
  const LocalId* columns;  ///< [begin[num_rows]], each in [0, num_columns)
  const T* values;         ///< likewise
  std::int64_t num_rows;
  std::int64_t num_columns;

  /// As a hop, for transpose(): row i is destination i, column c source c.
  HopEdges edges() const { return {begin, columns, num_rows, num_columns}; }
};

/// out[i, :] = sum of values[k] * matrix[columns[k], :] over row i, in its order.
///
/// @param x       host   @param matrix  [num_columns, width] f32, host   @param out  [num_rows, width] f32, host
/// Determinism:   the same bits for any thread count.   Threads: runs on the caller's oneTBB arena.
/// Cost:          width * (values of all rows) multiplications and additions; rows of the matrix come from the caches
/// Oracle:        sparse_product_reference()
template <class T>
void sparse_product(const SparseRowsOf<T>& x, const float* matrix, std::int64_t width, float* out);

/// out[c, :] = sum of values[k] * grad[i, :] over the values k of column c, i being the row of k, rows ascending: the
/// gradient of the matrix.
///
/// @param by_column  transpose() of the rows, or of more rows of which x has the first ones
/// @param grad       [num_rows, width] f32   @param out  [num_columns, width] f32
/// Otherwise as above.   Oracle: sparse_product_backward_reference()
template <class T>
void sparse_product_backward(const SparseRowsOf<T>& x, const SourceEdges& by_column, const float* grad,
                             std::int64_t width, float* out);

template <class T>
void sparse_product_reference(const SparseRowsOf<T>& x, const float* matrix, std::int64_t width, float* out);
template <class T>
void sparse_product_backward_reference(const SparseRowsOf<T>& x, const float* grad, std::int64_t width, float* out);

/// The same two on device memory: they enqueue on `stream` and return. Determinism: the same bits each time.
template <class T>
void sparse_product(const SparseRowsOf<T>& x, const float* matrix, std::int64_t width, float* out, CUstream_st* stream);
template <class T>
void sparse_product_backward(const SparseRowsOf<T>& x, const SourceEdges& by_column, const float* grad,
                             std::int64_t width, float* out, CUstream_st* stream);

}  // namespace salient
