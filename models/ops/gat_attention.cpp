// models/ops/gat_attention.cpp - GAT's attention as one differentiable function.
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/kernels/attention_sum.h"
#include "models/kernels/edge_softmax.h"
#include "models/kernels/gat_bins.h"
#include "models/ops/bins.h"
#include "models/ops/kernel_call.h"
#include "models/ops/operators.h"
#include "models/ops/saved_order.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

struct GatFunction : Function<GatFunction> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& z, const at::Tensor& score_src,
                            const at::Tensor& score_dst, const HopView& hop, const GradientNeed& need) {
    const std::int64_t heads = score_src.size(1);
    require(z.dim() == 2 && z.size(0) == hop.num_src && z.size(1) % heads == 0, "z has one row per source");
    require(score_src.size(0) == hop.num_src && score_dst.size(0) == hop.num_dst && score_dst.size(1) == heads,
            "scores have one row per source, and per destination");
    require(z.device() == hop.indptr.device(), "z and hop are on one device");
    const at::Tensor rows = z.contiguous(), src = score_src.contiguous(), dst = score_dst.contiguous();
    at::Tensor weights = make_f32({num_attention_edges(hop.indices.numel(), hop.num_dst), heads}, z);
    at::Tensor out = make_f32({hop.num_dst, z.size(1)}, z);
    const KeptEdges kept = KeptEdges::for_gat(hop, {heads, z.size(1) / heads}, need);
    on_device_of(z, [&](auto... stream) {
      const HopEdges edges = edges_of(hop);
      auto* per_edge = weights.mutable_data_ptr<float>();
      gat_logits(edges, {heads, kAttentionSlope, pointer<float>(src), pointer<float>(dst)}, per_edge,
                 kept.on(stream, hop.num_src)...);
      edge_softmax(edges, heads, per_edge, stream...);
      attention_sum(edges, {{heads, z.size(1) / heads}, per_edge, pointer<float>(rows)}, out.mutable_data_ptr<float>(),
                    stream...);
    });
    save_order(ctx, need.order);
    ctx->save_for_backward({rows, src, dst, weights, hop.indptr, hop.indices, kept.bins});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &z = saved[0], &src = saved[1], &dst = saved[2], &weights = saved[3];
    const HopView hop{dst.size(0), z.size(0), saved[4], saved[5]};
    const Heads shape{src.size(1), z.size(1) / src.size(1)};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_z = make_f32(z.sizes(), z), grad_src = make_f32(src.sizes(), z),
               grad_dst = make_f32(dst.sizes(), z);
    const at::Tensor grad_edges = make_f32(weights.sizes(), z);
    const GatScores scores{shape.heads, kAttentionSlope, pointer<float>(src), pointer<float>(dst)};
    const AttentionTerms terms{shape, pointer<float>(weights), pointer<float>(z)};
    const AttentionSumGradients of_sum{grad_edges.mutable_data_ptr<float>(), grad_z.mutable_data_ptr<float>()};
    const GatGradients of_scores{grad_src.mutable_data_ptr<float>(), grad_dst.mutable_data_ptr<float>()};
    const HopEdges edges = edges_of(hop);
    if (const KeptEdges kept{saved[6], {}}; kept.are_kept()) {
      on_device_of(z, [&](auto... stream) {
        if constexpr (sizeof...(stream) > 0)
          gat_attention_backward_binned(edges, {scores, terms, pointer<float>(grad_out), kept.pointers(hop.num_src)},
                                        {of_sum, of_scores}, stream...);
      });
      return {grad_z, grad_src, grad_dst, {}, {}};
    }
    on_device_backward(z, hop, order_of(ctx), [&](const auto&... stream) {
      attention_sum_backward(edges, terms, pointer<float>(grad_out), of_sum, stream...);
      gat_scores_backward(edges, scores, terms.weights, of_sum.weights, of_scores, stream...);
    });
    return {grad_z, grad_src, grad_dst, {}, {}};
  }
};

}  // namespace

at::Tensor attention(const HopView& hop, const at::Tensor& z, const at::Tensor& score_src, const at::Tensor& score_dst,
                     GradientOrder order) {
  return GatFunction::apply(z, score_src, score_dst, hop, GradientNeed::of({z, score_src, score_dst}, order));
}

}  // namespace salient
