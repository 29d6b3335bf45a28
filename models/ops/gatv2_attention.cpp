// models/ops/gatv2_attention.cpp - GATv2's attention as one differentiable function. Only the logits differ from GAT's.
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/kernels/attention_sum.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gatv2_bins.h"
#include "models/ops/bins.h"
#include "models/ops/kernel_call.h"
#include "models/ops/operators.h"
#include "models/ops/saved_order.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// What the backward pass reads.
struct Saved {
  at::Tensor src, dst, att, weights, out, grad_out;
  KeptEdges kept;
  HopView hop;
  Heads shape;

  Gatv2Inputs inputs() const {
    return {shape, kAttentionSlope, pointer<float>(src), pointer<float>(dst), pointer<float>(att)};
  }
};

struct Gradients {
  at::Tensor src, dst, att;

  Gatv2Gradients pointers() const {
    return {src.mutable_data_ptr<float>(), dst.mutable_data_ptr<float>(), att.mutable_data_ptr<float>()};
  }
};

/// One pass over sources, by way of the bins of the forward pass.
Gradients gradients_by_bins(const Saved& s, CUstream_st* stream) {
  const at::Tensor row_dots = make_f32({s.hop.num_dst, s.shape.heads}, s.src);
  const at::Tensor grad_logits = make_f32(s.weights.sizes(), s.src);
  Gradients grads{make_f32(s.src.sizes(), s.src), make_f32(s.dst.sizes(), s.src),
                  make_f32({kGatv2AttParts, s.shape.heads, s.shape.channels}, s.src)};
  gatv2_attention_backward_binned(edges_of(s.hop), s.inputs(),
                                  {pointer<float>(s.weights), pointer<float>(s.out), pointer<float>(s.grad_out),
                                   s.kept.pointers(s.hop.num_src), pointer<std::uint8_t>(s.kept.signs)},
                                  grads.pointers(),
                                  {row_dots.mutable_data_ptr<float>(), grad_logits.mutable_data_ptr<float>()}, stream);
  return grads;
}

/// The sum's gradient, the softmax's, and that of the logits. No stream: on the host.
template <class... Stream>
Gradients gradients(const Saved& s, const Stream&... stream) {
  Gradients grads{make_f32(s.src.sizes(), s.src), make_f32(s.dst.sizes(), s.src),
                  make_f32({num_parts(s.hop.num_dst), s.shape.heads, s.shape.channels}, s.src)};
  const at::Tensor grad_values = make_f32(s.src.sizes(), s.src), grad_edges = make_f32(s.weights.sizes(), s.src);
  const HopEdges edges = edges_of(s.hop);
  const auto* weights = pointer<float>(s.weights);
  auto* per_edge = grad_edges.mutable_data_ptr<float>();
  attention_sum_backward(edges, {s.shape, weights, pointer<float>(s.src)}, pointer<float>(s.grad_out),
                         {per_edge, grad_values.mutable_data_ptr<float>()}, stream...);
  edge_softmax_backward(edges, s.shape.heads, weights, per_edge, stream...);
  gatv2_logits_backward(edges, s.inputs(), per_edge, grads.pointers(), stream...);
  grads.src.add_(grad_values);
  return grads;
}

struct Gatv2Function : Function<Gatv2Function> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z_src, const at::Tensor& z_dst,
                            const at::Tensor& att, const HopView& hop, const GradientNeed& need) {
    const Heads shape{att.size(0), att.size(1)};
    require(z_src.dim() == 2 && z_src.size(0) == hop.num_src && z_src.size(1) == shape.width(),
            "z_src has one row per source");
    require(z_dst.dim() == 2 && z_dst.size(0) == hop.num_dst && z_dst.size(1) == shape.width(),
            "z_dst has one row per destination");
    require(z_src.device() == hop.indptr.device(), "z_src and hop are on one device");
    const at::Tensor src = z_src.contiguous(), dst = z_dst.contiguous(), vectors = att.contiguous();
    at::Tensor weights = make_f32({num_attention_edges(hop.indices.numel(), hop.num_dst), shape.heads}, z_src);
    at::Tensor out = make_f32(z_dst.sizes(), z_src);
    const KeptEdges kept = KeptEdges::for_gatv2(hop, shape, need);
    on_device_of(z_src, [&](auto... stream) {
      const HopEdges edges = edges_of(hop);
      const Gatv2Inputs inputs{shape, kAttentionSlope, pointer<float>(src), pointer<float>(dst),
                               pointer<float>(vectors)};
      auto* per_edge = weights.mutable_data_ptr<float>();
      gatv2_logits(edges, inputs, per_edge, kept.on(stream, hop.num_src)...);
      edge_softmax(edges, shape.heads, per_edge, stream...);
      attention_sum(edges, {shape, per_edge, pointer<float>(src)}, out.mutable_data_ptr<float>(), stream...);
    });
    save_order(ctx, need.order);
    ctx->save_for_backward({src, dst, vectors, weights, out, hop.indptr, hop.indices, kept.bins, kept.signs});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grad_outs) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &src = saved[0], &dst = saved[1], &att = saved[2];
    const HopView hop{dst.size(0), src.size(0), saved[5], saved[6]};
    const Saved s{src,
                  dst,
                  att,
                  saved[3],
                  saved[4],
                  grad_outs[0].contiguous(),
                  {saved[7], saved[8]},
                  hop,
                  {att.size(0), att.size(1)}};
    Gradients grads;
    if (s.kept.are_kept())
      on_device_of(src, [&](auto... stream) {
        if constexpr (sizeof...(stream) > 0) grads = gradients_by_bins(s, stream...);
      });
    else
      on_device_backward(src, hop, order_of(ctx), [&](const auto&... stream) { grads = gradients(s, stream...); });
    return {grads.src, grads.dst, grads.att.sum(0), {}, {}};
  }
};

}  // namespace

at::Tensor attention_v2(const HopView& hop, const at::Tensor& z_src, const at::Tensor& z_dst, const at::Tensor& att,
                        GradientOrder order) {
  return Gatv2Function::apply(z_src, z_dst, att, hop, GradientNeed::of({z_src, z_dst, att}, order));
}

}  // namespace salient
