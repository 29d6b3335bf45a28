// models/sparse_rows.h - sparse rows of a batch as tensors.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

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

/// [num_rows, num_columns] f32, for what is no product.
at::Tensor to_dense(const SparseRows& x);

}  // namespace salient
