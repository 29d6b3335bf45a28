// models/ops/sparse_rows.h - sparse rows as tensors, and the differentiable operators on them.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "models/ops/dropout.h"

namespace salient {

/// The values of sparse rows grouped by column, on the rows' device; empty until a gradient needs them.
struct ValuesByColumn {
  at::Tensor indptr;  ///< int32 [num_columns + 1]
  at::Tensor row;     ///< int32 [num_values] ascending within a column
  at::Tensor value;   ///< int32 [num_values] position in SparseRows::values
};

/// The first num_rows rows of a batch: row i has values[k] in columns[k] for begin[i] <= k < begin[i + 1], and 0 in
/// every other column. Borrows the batch's memory, which must live until the backward pass is done.
struct SparseRows {
  std::int64_t num_rows = 0;
  std::int64_t num_columns = 0;
  at::Tensor begin{};    ///< int32 [>= num_rows + 1]
  at::Tensor columns{};  ///< int32 [values of all rows], ascending in each row
  at::Tensor values{};   ///< f16 or f32, likewise
  std::shared_ptr<ValuesByColumn> by_column = std::make_shared<ValuesByColumn>();  ///< shared by all that begin alike

  /// @param count  at most num_rows
  SparseRows first(std::int64_t count) const;
};

/// x weight^T. Differentiable in the weight.
///
/// @param weight  [out, num_columns] f32, on x's device      @return  [num_rows, out] f32
/// Precision: f32 on every device.   Determinism, Cost, Oracle: see models/kernels/sparse_product.h
at::Tensor sparse_linear(const SparseRows& x, const at::Tensor& weight);

/// node_dropout() of the dense rows, as sparse rows: the same masks.
SparseRows node_dropout(const SparseRows& x, double p, const DropoutKey& key, std::uint32_t layer);

/// [num_rows, num_columns] f32, for what is no product.
at::Tensor to_dense(const SparseRows& x);

}  // namespace salient
