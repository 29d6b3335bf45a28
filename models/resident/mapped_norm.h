// models/resident/mapped_norm.h - a batch norm behind a map of rows that have no gradient, as features have none: small
// products of the map's input with itself say what it needs of all rows.
//
// z = a W^T of rows a, which have a column of ones; n, A and C are those of row_moments.h:
//
//   mean(z) = W A / n     variance(z) = diag(W C W^T) / n
//
// With v the gradient behind dropout and leaky_relu, and G = v^T a over all rows, a product as every map has it:
//
//   S = G's column of ones     P = (diag(G W^T) - mean S) / deviation     the norm's bias and weight
//   W's gradient = weight / deviation (G - S / n A - P / n / deviation W C)
//
// So there is no pass over z for sums in either direction, and no dz.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/batch_norm.h"
#include "models/resident/row_moments.h"

namespace salient {

/// The map, and its norm with NormLayer::positive.
struct MappedNorm {
  NormLayer norm;
  const void* weight;    ///< W: [.., width] bf16, as products read it
  float* gradient;       ///< likewise, f32
  std::int64_t width;    ///< of a row of the input
  std::int64_t ones;     ///< RowMoments::ones
  const float* moments;  ///< RowMoments::moments
  float* mapped;         ///< [columns, width] scratch: W C, from forward to backward
};

/// Sets the norm's statistics, for norm_apply(). W is packed.
void mapped_statistics(const MappedNorm& of, cudaStream_t stream);

/// v. @param gradient  as NormLayer::out, its first padded(columns) columns are read  @param masked  as z; every row is
/// written
void masked_gradient(const NormLayer& layer, const Matrix& gradient, const Matrix& masked, std::int64_t rows,
                     cudaStream_t stream);

/// From G in MappedNorm::gradient to W's gradient in its place, and the gradients of the norm's parameters.
void finish_mapped_gradient(const MappedNorm& of, cudaStream_t stream);

}  // namespace salient
