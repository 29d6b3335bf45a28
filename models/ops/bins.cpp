// models/ops/bins.cpp - see bins.h.
#include "models/ops/bins.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include <algorithm>

#include "models/kernels/gat_bins.h"
#include "models/kernels/gatv2_bins.h"
#include "models/kernels/segment_bins.h"

namespace salient {
namespace {

bool can_take_bins(const HopView& hop, const GradientNeed& need) {
  return need.is_any && need.order == GradientOrder::kAny && hop.num_dst > 0 && hop.indices.is_cuda();
}

at::Tensor memory_of_bins(const HopView& hop) {
  return at::empty({attention_bins_size(hop.num_src, hop.indices.numel())}, hop.indices.options());
}

}  // namespace

BackwardStream with_segment_bins(const BackwardStream& on, const HopView& hop, const Reduction& reduction,
                                 std::int64_t width, at::Tensor& held) {
  const std::int64_t num_edges = hop.indices.numel();
  const bool is_faster = reduction.weight_of_source == nullptr &&  // the bins' kernel has none
                         are_segment_bins_faster(hop.num_src, num_edges, width);
  if (!is_faster || on.is_ordered()) return on;
  held = at::empty({source_bins_size(hop.num_src, num_edges)}, hop.indices.options());
  return {on.stream, SourceBins{held.mutable_data_ptr<LocalId>()}};
}

GradientNeed GradientNeed::of(std::initializer_list<at::Tensor> inputs, GradientOrder order) {
  return {at::GradMode::is_enabled() &&
              std::any_of(inputs.begin(), inputs.end(), [](const at::Tensor& x) { return x.requires_grad(); }),
          order};
}

KeptEdges KeptEdges::for_gat(const HopView& hop, Heads shape, const GradientNeed& need) {
  if (!can_take_bins(hop, need) || !are_gat_bins_faster(shape, hop.num_src, hop.indices.numel())) return {};
  return {memory_of_bins(hop), {}};
}

KeptEdges KeptEdges::for_gatv2(const HopView& hop, Heads shape, const GradientNeed& need) {
  if (!can_take_bins(hop, need) || !are_gatv2_bins_faster(shape, hop.num_src, hop.indices.numel())) return {};
  const std::int64_t num_edges = num_attention_edges(hop.indices.numel(), hop.num_dst);
  return {memory_of_bins(hop), at::empty({num_edges, shape.width() / 4}, hop.indices.options().dtype(at::kByte))};
}

AttentionBins KeptEdges::pointers(std::int64_t num_src) const {
  return AttentionBins::make(static_cast<LocalId*>(bins.data_ptr()), num_src);
}

LogitsStream KeptEdges::on(CUstream_st* stream, std::int64_t num_src) const {
  if (!are_kept()) return stream;
  return {stream, pointers(num_src), signs.defined() ? signs.mutable_data_ptr<std::uint8_t>() : nullptr};
}

}  // namespace salient
