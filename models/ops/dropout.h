// models/ops/dropout.h - dropout whose mask is a function of (seed, step, layer, node, column): the same on any rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace salient {

/// Names the masks of one step. `nodes` are the global ids of the rows of x in every layer: a layer's rows are the
/// batch's first nodes.
struct DropoutKey {
  std::uint32_t seed = 0;
  std::uint32_t step = 0;  ///< global step
  at::Tensor nodes;        ///< int32 [>= rows of x]
};

/// x * mask / (1 - p), where element (row, column) is kept with probability 1 - p, p being rounded to a multiple of
/// 2^-16. Differentiable; the mask is computed again in the backward pass, never stored.
///
/// @param x      [rows, columns] f32 or f16, host or device; on a device the current stream's work.
/// @param p      in [0, 1]
/// @param layer  separates the masks of a step.
/// @return       f32 of x's shape
/// Determinism:  models/kernels/dropout.h defines the mask, bit for bit the same on CPU and GPU.
/// Oracle:       dropout_reference()
at::Tensor node_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer);

/// node_dropout(max(x, 0)) in one pass over memory, and its gradient in one pass without the mask.
at::Tensor relu_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer);

}  // namespace salient
