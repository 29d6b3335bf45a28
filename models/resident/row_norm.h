// models/resident/row_norm.h - layer normalisation of rows, with what is around it in a hidden layer.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/describe/resident_limits.h"
#include "models/resident/operands.h"
#include "models/resident/step_memory.h"

namespace salient {

/// out = D(relu(norm(z + addend))), with a column of ones behind it if out is wider. norm is torch's LayerNorm over the
/// columns of z, epsilon 1e-5. Device memory, f32 where nothing else is said.
struct RowNorm {
  const float *weight, *bias;  ///< [columns]
  float *weight_gradient, *bias_gradient;
  const NodeId* nodes;
  const LocalId* num_nodes;  ///< [1] of the level
  TreeDropout dropout;
  Matrix z;            ///< [rows, columns], at most kMaxResidentLayerNormWidth
  Matrix addend;       ///< [rows, columns or more]; data null: none
  Matrix out;          ///< [rows, columns or padded(columns + 1)]
  float* statistics;   ///< [rows, 2]: mean, 1 / deviation of a row; null: no backward follows
  std::uint8_t* kept;  ///< [rows, columns / 8]: bit c % 8 of byte c / 8 = column c is positive and kept; null likewise
  float* sums;         ///< [row_norm_sums_size(columns)] scratch of the backward
};

/// Elements of RowNorm::sums.
std::int64_t row_norm_sums_size(std::int64_t columns);

/// @param rows  of the matrices that are computed; those behind the level's end become zeros
/// Cost: reads z and addend once, writes out and a sixteenth of it in bits.
void row_norm_forward(const RowNorm& norm, std::int64_t rows, cudaStream_t stream);

/// The parameters' gradients, and that of z, which is also the addend's.
///
/// @param gradient  as out, its first columns are read     @param dz  as z; every row is written
/// Cost: reads z, addend and gradient once, writes dz.
/// Determinism: sums are added in a fixed order.
void row_norm_backward(const RowNorm& norm, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                       cudaStream_t stream);

}  // namespace salient
