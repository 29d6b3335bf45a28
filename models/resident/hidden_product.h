// models/resident/hidden_product.h - the two products of a hidden layer that a step waits for, by Hopper's tensor
// cores: of as many rows as a batch has, where products of fixed sizes take the level's capacity.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "core/cuda/cuda.h"
#include "core/types.h"
#include "models/resident/fused_kernels.h"

namespace salient {

/// Columns of the layer's operand: means and own rows.
inline constexpr int kHiddenOperandWidth = 2 * kFusedWidth;

class HiddenProduct {
 public:
  enum class Kind : std::uint8_t {
    kForward,   ///< [rows, kFusedWidth] = operand * weight^T
    kGradient,  ///< of the operand: [rows, kHiddenOperandWidth] = gradient of the result * weight
  };

  /// Of a GPU of compute capability 9.0. Matrices are bf16 in device memory.
  /// @param first            the first factor, [rows, kHiddenOperandWidth or kFusedWidth]
  /// @param weight           [kFusedWidth, kHiddenOperandWidth]
  /// @param multiprocessors  that have a block
  HiddenProduct(Kind kind, const void* first, std::int64_t rows, const void* weight, int multiprocessors);

  /// Rows of `out` behind the first *num_rows, which are in device memory, are left as they are.
  void run(const LocalId* num_rows, void* out, cudaStream_t stream) const;

 private:
  const Kind kind_;
  const unsigned blocks_;
  const CUtensorMap first_, weight_;
};

}  // namespace salient
