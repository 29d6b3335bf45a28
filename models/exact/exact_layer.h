// models/exact/exact_layer.h - a hidden layer of exact inference, of some nodes, by Hopper's tensor cores: means and
// own rows come from where they are, without an operand of both, and of the last hidden layer what the last layer makes
// of its result is all that is stored.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/fused_kernels.h"
#include "models/resident/operands.h"

namespace salient {

/// Device memory, f16.
struct ExactLayerWeights {
  std::int64_t width;         ///< of a row, a multiple of 8
  const void* own;            ///< [kFusedWidth, 2 * width]: of means, of own rows
  const void* next;           ///< [2 * next_columns, kFusedWidth]: the last layer's, around and self; or null
  std::int64_t next_columns;  ///< a multiple of 8
};

/// What the layer reads of some nodes, and where what it makes goes. Device memory, f16.
struct ExactLayerBlock {
  std::int64_t count;        ///< nodes
  const void *means, *own;   ///< [count, width] over their neighbours; of themselves
  std::int64_t row_stride;   ///< elements from one row of either to the next
  void* result;              ///< [count, kFusedWidth], without `next`
  void *around, *self;       ///< [count, next_columns], with `next`; null: not asked for, if computed all the same
  std::int32_t* beyond_f16;  ///< [1] becomes 1 where an element of the layer's result is not a finite f16
};

class ExactLayer {
 public:
  /// Whether a layer of `hidden_dim` columns that reads rows of `table` can be one on this GPU.
  static bool fits(const FeatureRows& table, std::int64_t hidden_dim);

  explicit ExactLayer(const ExactLayerWeights& weights);

  /// @param multiprocessors  that get a block
  void run(const ExactLayerBlock& block, int multiprocessors, cudaStream_t stream) const;

 private:
  const int width_, next_columns_;
  const bool has_next_;
  const CUtensorMap weight_;
  CUtensorMap next_{};
};

}  // namespace salient
