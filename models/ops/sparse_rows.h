// models/ops/sparse_rows.h - differentiable operators on sparse rows, and on rows that may be sparse.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "models/input_rows.h"
#include "models/ops/dropout.h"

namespace salient {

/// x weight^T. Differentiable in the weight.
///
/// @param weight  [out, num_columns] f32, on x's device      @return  [num_rows, out] f32
/// Precision: f32 on every device.   Determinism, Cost, Oracle: see models/kernels/sparse_product.h
at::Tensor sparse_linear(const SparseRows& x, const at::Tensor& weight);

/// node_dropout() of the dense rows, as sparse rows: the same masks.
SparseRows node_dropout(const SparseRows& x, double p, const DropoutKey& key, std::uint32_t layer);

/// node_dropout() of the rows, dense or sparse as they are.
InputRows node_dropout(const InputRows& x, double p, const DropoutKey& key, std::uint32_t layer);

}  // namespace salient
