// models/precision.h - how dense products are computed.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/model_options.h"

namespace salient {

/// For every product from now on, of the whole process. Parameters, gradients, aggregation and optimiser stay f32.
void set_precision(Precision precision);

/// a b, and y += a b, in the precision that was set; a and b are f32 or f16 matrices, the result is f32. For autograd
/// functions, which keep no graph.
at::Tensor product(const at::Tensor& a, const at::Tensor& b);
void add_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b);

/// y = x W^T + b in the precision that was set, with a backward pass in the same.
///
/// @param x       [rows, in] f32 or f16
/// @param weight  [out, in] f32, on x's device; kTf32 and kBf16 matter on a GPU only
/// @param bias    [out] f32, or undefined
/// @return        [rows, out] f32
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace salient
