// models/ops/bins.h - memory for entries that are binned by source, where an operator's gradient gains by it.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"
#include "models/kernels/attention_edges.h"
#include "models/kernels/segment.h"

namespace salient {

/// `on` with bins for segment_reduce_backward() or attention_sum_backward(); `on` itself where its order is fixed or
/// bins gain nothing. The memory is torch's, from its cache for the stream; `held` holds it.
BackwardStream with_segment_bins(const BackwardStream& on, const HopView& hop, const Reduction& reduction,
                                 std::int64_t width, at::Tensor& held);
BackwardStream with_attention_bins(const BackwardStream& on, const HopView& hop, Heads shape, at::Tensor& held);
/// Likewise for gatv2_attention_backward_binned().
BackwardStream with_gatv2_bins(const BackwardStream& on, const HopView& hop, Heads shape, at::Tensor& held);

}  // namespace salient
