// models/resident/batch_norm.h - batch normalisation with what follows it, over the distinct nodes of a level.
//
// A node that is there twice counts once in mean and variance (first_seen.h): the same statistics as over the
// message-flow graph. Backward each row gets its own gradient, and the first one of a node the part that comes from the
// statistics: together they are the gradient of the node.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/first_seen.h"
#include "models/resident/operands.h"
#include "models/resident/step_memory.h"

namespace salient {

/// torch's BatchNorm1d: momentum 0.1, epsilon 1e-5. Device memory, f32 where nothing else is said.
struct BatchNormTensors {
  const float *weight, *bias;  ///< [columns]
  float *weight_gradient, *bias_gradient;
  float *running_mean, *running_var;
  std::int64_t* num_batches_tracked;  ///< [1]
};

/// out = D(leaky_relu(norm(z))) + residual, with a column of ones behind it if out is wider.
struct NormLayer {
  BatchNormTensors tensors;
  const NodeId* nodes;
  const LocalId* num_nodes;     ///< [1] of the level
  const std::uint8_t* first;    ///< FirstSeen::flags(); null: only the running statistics are wanted
  const LocalId* num_distinct;  ///< [1]. Below two the running statistics are taken, and stay as they are
  std::int64_t columns;
  float slope;  ///< of leaky_relu below 0; 0 = relu
  TreeDropout dropout;
  Matrix z;           ///< [rows, padded(columns)]
  Matrix out;         ///< [rows, padded(columns) or padded(columns + 1)]
  Matrix residual;    ///< as z; data null: none
  float* sums;        ///< [norm_sums_size()] scratch
  float* statistics;  ///< [4, padded(columns)]: mean, 1 / deviation; of the gradient: mean, mean times the value
  /// [rows, padded(columns) / 8] with a dropout: bit c % 8 of byte c / 8 = column c is kept, from forward to backward,
  /// which else would draw again, twice. Null: there is no dropout.
  std::uint8_t* kept;
  std::uint8_t* positive = nullptr;  ///< likewise: bit = leaky_relu's input was above 0; null: not wanted
};

/// Elements of NormLayer::sums.
std::int64_t norm_sums_size(std::int64_t columns);

/// @param rows  of the matrices that are computed; those behind the level's end become zeros
/// Determinism: sums are added in a fixed order.
void norm_forward(const NormLayer& layer, std::int64_t rows, cudaStream_t stream);

/// @param gradient  as out, its first padded(columns) columns are read
/// @param dz        as z; every row is written
void norm_backward(const NormLayer& layer, const Matrix& gradient, const Matrix& dz, std::int64_t rows,
                   cudaStream_t stream);

/// norm_forward() behind statistics that are there.
void norm_apply(const NormLayer& layer, std::int64_t rows, cudaStream_t stream);

}  // namespace salient
