// models/ops/bins.h - memory for entries that are binned by source, where an operator's gradient gains by it.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"
#include "models/kernels/attention_bins.h"
#include "models/kernels/segment.h"
#include "models/numerics.h"

namespace salient {

/// `on` with bins for segment_reduce_backward(); `on` itself where its order is fixed or bins gain nothing. The memory
/// is torch's, from its cache for the stream; `held` holds it.
BackwardStream with_segment_bins(const BackwardStream& on, const HopView& hop, const Reduction& reduction,
                                 std::int64_t width, at::Tensor& held);

/// Whether a forward pass is for training, and in which order its gradients are summed.
struct GradientNeed {
  bool is_any = false;
  GradientOrder order = GradientOrder::kAny;

  /// Of an operator on these tensors, as torch would record it now.
  static GradientNeed of(std::initializer_list<at::Tensor> inputs, GradientOrder order);
};

/// What a forward pass of attention keeps for a gradient by bins; undefined where none is needed or bins gain nothing.
struct KeptEdges {
  at::Tensor bins, signs;

  static KeptEdges for_gat(const HopView& hop, Heads shape, const GradientNeed& need);
  static KeptEdges for_gatv2(const HopView& hop, Heads shape, const GradientNeed& need);
  bool are_kept() const { return bins.defined(); }
  AttentionBins pointers(std::int64_t num_src) const;
  LogitsStream on(CUstream_st* stream, std::int64_t num_src) const;
};

}  // namespace salient
