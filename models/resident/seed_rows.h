// models/resident/seed_rows.h - what stands between linear maps: activations, and rows put side by side.
#pragma once

#include <cstdint>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/resident/operands.h"
#include "models/resident/step_memory.h"

namespace salient {

/// out = dropout(relu(z + addend)), with a column of ones behind it if out is wider. Rows behind the level's end are
/// zeros.
struct ReluLayer {
  const NodeId* nodes;
  const LocalId* num_nodes;  ///< [1]
  TreeDropout dropout;
  Matrix z;         ///< [rows, width]
  Matrix out;       ///< [rows, width or padded(width + 1)]
  Matrix addend{};  ///< [rows, width or more]; data null: none
};
void activate_rows(const ReluLayer& activation, std::int64_t rows, cudaStream_t stream);

/// The gradient of z, which is also the addend's.
/// @param gradient  as out, its first columns are read     @param dz  as z; every row is written
void activation_backward(const ReluLayer& activation, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                         cudaStream_t stream);

/// Copies the first `rows` rows of `part` to the columns of `whole` from first_column on, a multiple of 8; and back.
void put_columns(const Matrix& part, const Matrix& whole, std::int64_t first_column, std::int64_t rows,
                 cudaStream_t stream);
void take_columns(const Matrix& whole, std::int64_t first_column, const Matrix& part, std::int64_t rows,
                  cudaStream_t stream);

}  // namespace salient
