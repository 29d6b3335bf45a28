// models/ops/weighted_sum.cpp - see weighted_sum.h. The kernels are those of attention with one head, whose weights are
// given: they run over the entries that are not the row's own node, and that node once.
#include "models/ops/weighted_sum.h"

#include <ATen/ops/arange.h>
#include <ATen/ops/repeat_interleave.h>
#include <ATen/ops/where.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>

#include "core/error.h"
#include "models/kernels/attention_sum.h"
#include "models/ops/edge_attention.h"
#include "models/ops/kernel_call.h"
#include "models/ops/operators.h"
#include "models/ops/saved_order.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// Of the edges of attention_edges.h: entries that are the row's own node are 0, and count with it.
at::Tensor of_attention_edges(const HopView& hop, const EntryFactors& factors) {
  const std::int64_t num_entries = hop.indices.numel();
  const at::Tensor row = EntryRows(hop).row, is_self = hop.indices.eq(row);
  const at::Tensor of_self = factors.of_self + sum_in_rows(hop, at::where(is_self, factors.of_entries, 0).contiguous());
  at::Tensor edges = make_f32({num_attention_edges(num_entries, hop.num_dst)}, factors.of_self);
  const auto place = [&](const at::Tensor& of) { return of.to(at::kLong); };
  const at::Tensor rows = at::arange(hop.num_dst, hop.indices.options());
  edges.index_copy_(0, place(at::arange(num_entries, hop.indices.options()) + row),
                    factors.of_entries.masked_fill(is_self, 0));
  edges.index_copy_(0, place(hop.indptr.narrow(0, 1, hop.num_dst) + rows), of_self);
  return edges;
}

/// In a struct, since autograd takes every tensor argument for one that may have a gradient.
struct EdgeWeights {
  at::Tensor values;
};

struct WeightedSum : Function<WeightedSum> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop, const EdgeWeights& weights,
                            GradientOrder order) {
    at::Tensor out = make_f32({hop.num_dst, x.size(1)}, x);
    on_device_of(x, [&](auto... stream) {
      attention_sum(edges_of(hop), {{1, x.size(1)}, pointer<float>(weights.values), pointer<float>(x)},
                    out.mutable_data_ptr<float>(), stream...);
    });
    save_order(ctx, order);
    ctx->save_for_backward({x, weights.values, hop.indptr, hop.indices});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &x = saved[0], &weights = saved[1];
    const HopView hop{saved[2].numel() - 1, x.size(0), saved[2], saved[3]};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_x = make_f32(x.sizes(), x), grad_weights = make_f32(weights.sizes(), x);  // the latter is not read
    on_device_backward(x, hop, order_of(ctx), [&](const auto&... stream) {
      attention_sum_backward(edges_of(hop), {{1, x.size(1)}, pointer<float>(weights), pointer<float>(x)},
                             pointer<float>(grad_out),
                             {grad_weights.mutable_data_ptr<float>(), grad_x.mutable_data_ptr<float>()}, stream...);
    });
    return {grad_x, {}, {}, {}};
  }
};

}  // namespace

at::Tensor of_rows(const HopView& hop, const at::Tensor& values) {
  return at::repeat_interleave(values, hop.indptr.diff(), 0, std::optional{hop.indices.numel()});
}

at::Tensor sum_in_rows(const HopView& hop, const at::Tensor& values) {
  return segment_sum(EntryRows(hop).by_row, values.unsqueeze(1).contiguous()).squeeze(1);
}

at::Tensor weighted_sum(const HopView& hop, const at::Tensor& x, const EntryFactors& factors, GradientOrder order) {
  require(x.dim() == 2 && x.size(0) >= hop.num_src && x.device() == hop.indptr.device(),
          "x has one row per source, on the hop's device");
  require(factors.of_entries.numel() == hop.indices.numel() && factors.of_self.numel() == hop.num_dst,
          "a factor per entry, and per row");
  const at::Tensor rows = x.narrow(0, 0, hop.num_src).to(at::kFloat).contiguous();
  return WeightedSum::apply(rows, hop, EdgeWeights{of_attention_edges(hop, factors)}, order);
}

}  // namespace salient
