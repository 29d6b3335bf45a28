// models/ops/bf16_product.h - products on processors that multiply bfloat16, for batches of ever other numbers of rows.
#pragma once

#include <ATen/core/Tensor.h>

namespace salient {

/// y = a b, or y += a b; factors are rounded to bfloat16 tile by tile on their way into the product, sums are f32.
/// LibTorch's product has oneDNN make a primitive for each new number of rows, and factors and results are rounded and
/// widened by passes over memory of their own. Here oneDNN's kernels are those of a few sizes of tiles, made once a
/// thread. Requires has_bf16_products() (core/host/processor.h).
///
/// @param y  [m, n] f32, row-major
/// @param a  [m, k] f32, f16 or bfloat16, host memory
/// @param b  [k, n] likewise
/// Threads: as the caller's oneTBB arena has; the result does not depend on their number.
void bf16_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, bool adds);

}  // namespace salient
