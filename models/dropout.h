// models/dropout.h - dropout whose mask is a function of (seed, step, layer, node, column): the same on any rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace salient {

/// Names the mask of one layer in one step. `nodes` are the global ids of the rows.
struct DropoutKey {
  std::uint32_t seed = 0;
  std::uint32_t step = 0;   ///< global step
  at::Tensor nodes;         ///< int32 [>= rows of x]
};

/// x * mask / (1 - p), where element (row, column) is kept with probability 1 - p. Differentiable.
///
/// @param x      [rows, columns] f32, host or device; on a device the current stream's work.
/// @param layer  separates the masks of a step.
/// Determinism:  Philox4x32-10, key (seed, step), counter (nodes[row], column / 4, layer, 'DROP'); word column % 4.
/// Oracle:       dropout_mask_reference().
at::Tensor node_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer);

}  // namespace salient
