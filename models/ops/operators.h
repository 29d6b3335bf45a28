// models/ops/operators.h - the neighbour operators as differentiable tensor functions, on host and device.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/hop.h"

namespace salient {

/// out[i, :] = mean (sum) of x[j, :] over the entries j of row i, 0 for an empty row. Differentiable in x.
///
/// @param x  [num_src, width] f16 or f32, contiguous, on the hop's device; more rows than num_src are allowed
/// @return   [num_dst, width] f32
/// @throws Error{kInternal} for other shapes, dtypes, or devices.
/// Ordering: on a device the current stream's work.   Lifetime: the hop's memory must outlive the backward pass.
/// Determinism, Cost, Oracle: see models/ops/segment.h
at::Tensor segment_mean(const HopView& hop, const at::Tensor& x);
at::Tensor segment_sum(const HopView& hop, const at::Tensor& x);

}  // namespace salient
