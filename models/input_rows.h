// models/input_rows.h - what a layer reads: a dense matrix, or the sparse rows of a data set.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

#include "models/sparse_rows.h"

namespace salient {

/// Value type. A layer whose first step is a linear map takes either; where rows are sparse it multiplies before it
/// sums over neighbours, which is the same but for rounding.
class InputRows {
 public:
  InputRows() = default;
  InputRows(at::Tensor dense);   // NOLINT(google-explicit-constructor): a matrix is rows
  InputRows(SparseRows sparse);  // NOLINT(google-explicit-constructor): likewise

  bool is_sparse() const { return sparse_.has_value(); }
  bool is_defined() const { return is_sparse() || dense_.defined(); }
  std::int64_t num_rows() const { return is_sparse() ? sparse_->num_rows : dense_.size(0); }

  const SparseRows& sparse() const { return sparse_.value(); }

  /// The matrix as it is stored, f16 or f32. @throws Error{kInternal} for sparse rows
  const at::Tensor& dense() const;

  /// @return  [num_rows, columns]: of dense rows the matrix itself, f16 or f32, without a copy; of sparse rows a new
  ///          f32 matrix, made by each call
  at::Tensor to_dense() const { return is_sparse() ? salient::to_dense(*sparse_) : dense_; }

  /// The first `count` rows, without a copy.
  InputRows first(std::int64_t count) const;

 private:
  at::Tensor dense_{};
  std::optional<SparseRows> sparse_{};
};

}  // namespace salient
