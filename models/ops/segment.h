// models/ops/segment.h - neighbour sums without a graph, for autograd functions that are made of them.
#pragma once

#include "models/batch_view.h"
#include "models/kernels/segment.h"
#include "models/numerics.h"

namespace salient {

/// @throws Error{kInternal} unless x has a contiguous row, f16 or f32, for each source, on the hop's device.
void require_rows(const at::Tensor& x, const HopView& hop);

/// The result of segment_sum(), segment_mean() and weighted_mean().
at::Tensor reduce_rows(const HopView& hop, const Reduction& reduction, const at::Tensor& x);

/// @return  the gradient of x [num_rows, width] f32; rows from num_src on are 0
at::Tensor reduce_rows_backward(const HopView& hop, const Reduction& reduction, const at::Tensor& grad,
                                std::int64_t num_rows, GradientOrder order);

}  // namespace salient
