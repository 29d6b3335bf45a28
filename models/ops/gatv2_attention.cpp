// models/ops/gatv2_attention.cpp - GATv2's attention as one differentiable function. Only the logits differ from GAT's.
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/kernels/attention_sum.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gatv2_logits.h"
#include "models/ops/bins.h"
#include "models/ops/kernel_call.h"
#include "models/ops/operators.h"
#include "models/ops/saved_order.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct Gatv2Attention : Function<Gatv2Attention> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z_src, const at::Tensor& z_dst,
                            const at::Tensor& att, const HopView& hop, GradientOrder order) {
    const Heads shape{att.size(0), att.size(1)};
    require(z_src.dim() == 2 && z_src.size(0) == hop.num_src && z_src.size(1) == shape.width(),
            "z_src has one row per source");
    require(z_dst.dim() == 2 && z_dst.size(0) == hop.num_dst && z_dst.size(1) == shape.width(),
            "z_dst has one row per destination");
    require(z_src.device() == hop.indptr.device(), "z_src and hop are on one device");
    const at::Tensor src = z_src.contiguous(), dst = z_dst.contiguous(), vectors = att.contiguous();
    at::Tensor weights = make_f32({num_attention_edges(hop.indices.numel(), hop.num_dst), shape.heads}, z_src);
    at::Tensor out = make_f32(z_dst.sizes(), z_src);
    on_device_of(z_src, [&](auto... stream) {
      const HopEdges edges = edges_of(hop);
      const Gatv2Inputs inputs{shape, kAttentionSlope, pointer<float>(src), pointer<float>(dst),
                               pointer<float>(vectors)};
      auto* per_edge = weights.mutable_data_ptr<float>();
      gatv2_logits(edges, inputs, per_edge, stream...);
      edge_softmax(edges, shape.heads, per_edge, stream...);
      attention_sum(edges, {shape, per_edge, pointer<float>(src)}, out.mutable_data_ptr<float>(), stream...);
    });
    save_order(ctx, order);
    ctx->save_for_backward({src, dst, vectors, weights, hop.indptr, hop.indices});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &src = saved[0], &dst = saved[1], &att = saved[2], &weights = saved[3];
    const HopView hop{dst.size(0), src.size(0), saved[4], saved[5]};
    const Heads shape{att.size(0), att.size(1)};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_values = make_f32(src.sizes(), src), grad_src = make_f32(src.sizes(), src);
    at::Tensor grad_dst = make_f32(dst.sizes(), src), grad_edges = make_f32(weights.sizes(), src);
    at::Tensor grad_att = make_f32({num_parts(hop.num_dst), shape.heads, shape.channels}, src);
    at::Tensor bins;
    on_device_backward(src, hop, order_of(ctx), [&](const auto&... stream) {
      const HopEdges edges = edges_of(hop);
      const Gatv2Inputs inputs{shape, kAttentionSlope, pointer<float>(src), pointer<float>(dst), pointer<float>(att)};
      auto* per_edge = grad_edges.mutable_data_ptr<float>();
      attention_sum_backward(edges, {shape, pointer<float>(weights), pointer<float>(src)}, pointer<float>(grad_out),
                             {per_edge, grad_values.mutable_data_ptr<float>()},
                             with_attention_bins(stream, hop, shape, bins)...);
      edge_softmax_backward(edges, shape.heads, pointer<float>(weights), per_edge, stream...);
      gatv2_logits_backward(
          edges, inputs, per_edge,
          {grad_src.mutable_data_ptr<float>(), grad_dst.mutable_data_ptr<float>(), grad_att.mutable_data_ptr<float>()},
          stream...);
    });
    return {grad_src.add_(grad_values), grad_dst, grad_att.sum(0), {}, {}};
  }
};

}  // namespace

at::Tensor attention_v2(const HopView& hop, const at::Tensor& z_src, const at::Tensor& z_dst, const at::Tensor& att,
                        GradientOrder order) {
  return Gatv2Attention::apply(z_src, z_dst, att, hop, order);
}

}  // namespace salient
