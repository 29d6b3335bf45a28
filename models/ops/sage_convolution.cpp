// models/ops/sage_convolution.cpp - GraphSAGE's convolution as one differentiable function.
#include <torch/csrc/autograd/custom_function.h>

#include "models/ops/linear.h"
#include "models/ops/operators.h"
#include "models/ops/saved_order.h"
#include "models/ops/segment.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

/// y = mean(x) W_l^T + x_self W_r^T as one node of the graph: its gradient of x is built in one array, where a mean, a
/// slice and two maps would make, pad and add three.
struct SageConvolution : Function<SageConvolution> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const HopView& hop, const at::Tensor& weight_l,
                            const at::Tensor& weight_r, const Numerics& numerics) {
    const at::Tensor mean = reduce_rows(hop, Reduce::kMean, x), self = x.narrow(0, 0, hop.num_dst);
    at::Tensor y = product(mean, weight_l.t(), numerics.precision);
    add_product(y, self, weight_r.t(), numerics.precision);
    ctx->saved_data["precision"] = static_cast<std::int64_t>(numerics.precision);
    save_order(ctx, numerics.gradient_order);
    ctx->saved_data["num_rows"] = x.size(0);
    ctx->saved_data["num_src"] = hop.num_src;
    ctx->save_for_backward({mean, self, weight_l, weight_r, hop.indptr, hop.indices});
    return y;
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const at::Tensor &mean = saved[0], &self = saved[1], &weight_l = saved[2], &weight_r = saved[3];
    const HopView hop{mean.size(0), ctx->saved_data["num_src"].toInt(), saved[4], saved[5]};
    const auto precision = static_cast<Precision>(ctx->saved_data["precision"].toInt());
    const at::Tensor& grad = grads[0];
    at::Tensor grad_x;
    if (ctx->needs_input_grad(0)) {
      grad_x = reduce_rows_backward(hop, Reduce::kMean, product(grad, weight_l, precision),
                                    ctx->saved_data["num_rows"].toInt(), order_of(ctx));
      add_product(grad_x.narrow(0, 0, hop.num_dst), grad, weight_r, precision);
    }
    return {grad_x, {}, product(grad.t(), mean, precision), product(grad.t(), self, precision), {}};
  }
};

}  // namespace

at::Tensor sage_convolution(const HopView& hop, const at::Tensor& x, const at::Tensor& weight_l,
                            const at::Tensor& weight_r, const Numerics& numerics) {
  return SageConvolution::apply(x, hop, weight_l, weight_r, numerics);
}

}  // namespace salient
