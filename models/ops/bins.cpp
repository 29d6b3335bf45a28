// models/ops/bins.cpp - see bins.h.
#include "models/ops/bins.h"

#include <ATen/ops/empty.h>

#include "models/kernels/attention_bins.h"
#include "models/kernels/gatv2_bins.h"
#include "models/kernels/segment_bins.h"

namespace salient {
namespace {

BackwardStream with_bins(const BackwardStream& on, const HopView& hop, Kept kept, at::Tensor& held) {
  const std::int64_t num_edges = hop.indices.numel();
  held = at::empty({source_bins_size(kept, hop.num_src, num_edges)}, hop.indices.options());
  return {on.stream, SourceBins{held.mutable_data_ptr<LocalId>(), num_edges}};
}

}  // namespace

BackwardStream with_segment_bins(const BackwardStream& on, const HopView& hop, const Reduction& reduction,
                                 std::int64_t width, at::Tensor& held) {
  const bool is_faster = reduction.weight_of_source == nullptr &&  // the bins' kernel has none
                         are_segment_bins_faster(hop.num_src, hop.indices.numel(), width);
  return is_faster && !on.is_ordered() ? with_bins(on, hop, Kept::kRows, held) : on;
}

BackwardStream with_attention_bins(const BackwardStream& on, const HopView& hop, Heads shape, at::Tensor& held) {
  const bool is_faster = are_attention_bins_faster(shape, hop.num_src, hop.indices.numel());
  return is_faster && !on.is_ordered() ? with_bins(on, hop, Kept::kRowsAndPositions, held) : on;
}

BackwardStream with_gatv2_bins(const BackwardStream& on, const HopView& hop, Heads shape, at::Tensor& held) {
  const bool is_faster = are_gatv2_bins_faster(shape, hop.num_src, hop.indices.numel());
  return is_faster && !on.is_ordered() ? with_bins(on, hop, Kept::kRowsAndPositions, held) : on;
}

}  // namespace salient
