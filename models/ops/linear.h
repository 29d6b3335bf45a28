// models/ops/linear.h - dense products in a given precision. Parameters, gradients, sums and results are f32 in each.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/numerics.h"

namespace salient {

/// y = x W^T + b, with a backward pass in the same precision.
///
/// @param x          [rows, in] f32 or f16
/// @param weight     [out, in] f32, on x's device
/// @param bias       [out] f32, or undefined
/// @param precision  on the host kTf32 is kFp32, and so is kBf16 where the processor lacks it (core/host/processor.h)
/// @return           [rows, out] f32; kBf16 rounds factors, neither sums nor results
/// Threads: kTf32 on a GPU and kBf16 on the host turn LibTorch's permission to round factors on and off again around
///          each product. That permission is one flag of the process, so models of different precision must not
///          compute at the same time, only in turn.
at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, Precision precision);

/// a b, and y += a b; a and b are f32 or f16 matrices, the result is f32. For autograd functions, which keep no graph.
at::Tensor product(const at::Tensor& a, const at::Tensor& b, Precision precision);
void add_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, Precision precision);

}  // namespace salient
