// models/resident/fused_kernels.h - launches of the fused first layer, see fused_layer.h. All memory is the device's.
#pragma once

#include <cuda.h>

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/fused_tiles.h"

namespace salient {

inline constexpr int kFusedWidth = 256;     ///< of the layer's result
inline constexpr int kMaxFusedInput = 256;  ///< columns of its operand

/// What both directions work on.
struct FusedArguments {
  FusedTiles tiles{};
  std::int64_t max_tiles = 0;
  CUtensorMap own_rows;     ///< of the operand [rows, in] bf16, in boxes of kOwnSlots rows and 64 columns
  CUtensorMap child_rows;   ///< in boxes of kSlots - kOwnSlots rows
  int in = 0;               ///< columns of the operand
  float scale = 1;          ///< of dropout
  int multiprocessors = 0;  ///< that have a block
};

/// What draws dropout.
struct FusedDropout {
  const NodeId* nodes;  ///< the tree's
  TreeDropout of;
};

/// Writes the bits of what dropout keeps; without dropout those of all nodes.
void fused_dropout(const FusedArguments& arguments, const FusedDropout& dropout, cudaStream_t stream);

/// Behind fused_dropout(), whose bits it leaves where elements are positive.
/// @param weight  [kFusedWidth, in] bf16
/// @param out     [nodes of level h, 2 * kFusedWidth] bf16: means and own rows of dropout(relu(operand * weight^T));
///                rows behind the level's end are left as they are
void fused_forward(const FusedArguments& arguments, const void* weight, void* out, cudaStream_t stream);

/// @param gradient  [nodes of level h, 2 * kFusedWidth] bf16, of `out`
/// @param partials  [num_partials, kFusedWidth, in] f32: their sum is the weight's gradient
void fused_backward(const FusedArguments& arguments, const void* gradient, int num_partials, float* partials,
                    cudaStream_t stream);

}  // namespace salient
