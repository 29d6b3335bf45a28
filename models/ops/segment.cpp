// models/ops/segment.cpp - sum, mean and maximum of neighbours' rows as differentiable functions.
#include "models/ops/segment.h"

#include <ATen/ops/arange.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/ops/bins.h"
#include "models/ops/kernel_call.h"
#include "models/ops/operators.h"
#include "models/ops/saved_order.h"

namespace salient {

void require_rows(const at::Tensor& x, const HopView& hop) {
  require(x.dim() == 2 && x.size(0) >= hop.num_src && x.is_contiguous(), "x has one contiguous row per source");
  require(x.scalar_type() == at::kFloat || x.scalar_type() == at::kHalf, "x is f16 or f32");
  require(x.device() == hop.indptr.device(), "x and hop are on one device");
}

at::Tensor reduce_rows(const HopView& hop, const Reduction& reduction, const at::Tensor& x) {
  require_rows(x, hop);
  at::Tensor out = make_f32({hop.num_dst, x.size(1)}, x);
  on_device_of(x, [&](auto... stream) {
    const auto run = [&](const auto* rows) {
      segment_reduce(edges_of(hop), reduction, rows, x.size(1), out.mutable_data_ptr<float>(), stream...);
    };
    x.scalar_type() == at::kHalf ? run(pointer<Half>(x)) : run(pointer<float>(x));
  });
  return out;
}

at::Tensor reduce_rows_backward(const HopView& hop, const Reduction& reduction, const at::Tensor& grad,
                                std::int64_t num_rows, GradientOrder order) {
  const at::Tensor grad_out = grad.contiguous();
  at::Tensor grad_x = make_f32({num_rows, grad_out.size(1)}, grad_out);
  if (num_rows > hop.num_src) grad_x.slice(0, hop.num_src).zero_();
  at::Tensor bins;
  on_device_backward(grad_x, hop, order, [&](const auto&... stream) {
    segment_reduce_backward(edges_of(hop), reduction, pointer<float>(grad_out), grad_out.size(1),
                            grad_x.mutable_data_ptr<float>(),
                            with_segment_bins(stream, hop, reduction, grad_out.size(1), bins)...);
  });
  return grad_x;
}

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// A Reduction by tensors; in a struct, since autograd takes every tensor argument for one that may have a gradient.
struct WeightedReduction {
  Reduce reduce;
  at::Tensor weight_of_source{};  ///< undefined without weights

  Reduction kernel_argument() const {
    return {reduce, weight_of_source.defined() ? pointer<float>(weight_of_source) : nullptr};
  }
};

struct SegmentReduce : Function<SegmentReduce> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop,
                            const WeightedReduction& reduction, GradientOrder order) {
    save_order(ctx, order);
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = hop.num_src;
    ctx->saved_data["reduce"] = static_cast<std::int64_t>(reduction.reduce);
    ctx->save_for_backward({hop.indptr, hop.indices, reduction.weight_of_source});
    return reduce_rows(hop, reduction.kernel_argument(), x);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const HopView hop{saved[0].numel() - 1, ctx->saved_data["num_src"].toInt(), saved[0], saved[1]};
    const WeightedReduction reduction{static_cast<Reduce>(ctx->saved_data["reduce"].toInt()), saved[2]};
    const std::int64_t num_rows = ctx->saved_data["num_rows"].toInt();
    return {reduce_rows_backward(hop, reduction.kernel_argument(), grads[0], num_rows, order_of(ctx)), {}, {}, {}};
  }
};

struct SegmentMax : Function<SegmentMax> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop, GradientOrder order) {
    require_rows(x, hop);
    at::Tensor out = make_f32({hop.num_dst, x.size(1)}, x), winner = at::empty(out.sizes(), hop.indices.options());
    on_device_of(x, [&](auto... stream) {
      const auto run = [&](const auto* rows) {
        segment_max(edges_of(hop), rows, x.size(1), out.mutable_data_ptr<float>(), winner.mutable_data_ptr<LocalId>(),
                    stream...);
      };
      x.scalar_type() == at::kHalf ? run(pointer<Half>(x)) : run(pointer<float>(x));
    });
    save_order(ctx, order);
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = hop.num_src;
    ctx->save_for_backward({hop.indptr, hop.indices, winner});
    return out;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const HopView hop{saved[0].numel() - 1, ctx->saved_data["num_src"].toInt(), saved[0], saved[1]};
    const at::Tensor grad_out = grads[0].contiguous();
    at::Tensor grad_x = make_f32({ctx->saved_data["num_rows"].toInt(), grad_out.size(1)}, grad_out);
    grad_x.slice(0, hop.num_src).zero_();
    on_device_backward(grad_x, hop, order_of(ctx), [&](const auto&... stream) {
      segment_max_backward(edges_of(hop), pointer<LocalId>(saved[2]), pointer<float>(grad_out), grad_out.size(1),
                           grad_x.mutable_data_ptr<float>(), stream...);
    });
    return {grad_x, {}, {}};
  }
};

}  // namespace

at::Tensor segment_mean(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  return SegmentReduce::apply(x, hop, WeightedReduction{Reduce::kMean}, order);
}

at::Tensor weighted_mean(const HopView& hop, const at::Tensor& x, const at::Tensor& weight_of_source,
                         GradientOrder order) {
  require(weight_of_source.scalar_type() == at::kFloat && weight_of_source.is_contiguous() &&
              weight_of_source.numel() == hop.num_src && weight_of_source.device() == x.device(),
          "there is an f32 weight per source, beside x");
  return SegmentReduce::apply(x, hop, WeightedReduction{Reduce::kMean, weight_of_source}, order);
}

at::Tensor segment_sum(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  return SegmentReduce::apply(x, hop, WeightedReduction{Reduce::kSum}, order);
}

at::Tensor select_rows(const at::Tensor& x, const at::Tensor& row, GradientOrder order) {
  const std::int64_t count = row.numel();
  return segment_sum({count, x.size(0), at::arange(count + 1, row.options()), row}, x, order);
}

at::Tensor segment_max(const HopView& hop, const at::Tensor& x, GradientOrder order) {
  return SegmentMax::apply(x, hop, order);
}

}  // namespace salient
