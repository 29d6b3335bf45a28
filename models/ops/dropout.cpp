// models/ops/dropout.cpp - see dropout.h.
#include "models/ops/dropout.h"

#include <torch/csrc/autograd/custom_function.h>

#include "core/error.h"
#include "models/kernels/dropout.h"
#include "models/ops/kernel_call.h"

namespace salient {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Function;
using torch::autograd::variable_list;

NodeRows rows_of(const at::Tensor& x, const at::Tensor& nodes) {
  return {pointer<float>(x), pointer<std::uint32_t>(nodes), x.size(0), x.size(1)};
}

at::Tensor apply_dropout(const at::Tensor& x, const at::Tensor& nodes, const DropoutMask& mask) {
  at::Tensor out = make_f32(x.sizes(), x);
  on_device_of(x, [&](auto... stream) {
    dropout(mask, Activation::kNone, rows_of(x, nodes), {out.mutable_data_ptr<float>()}, stream...);
  });
  return out;
}

struct Dropout : Function<Dropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& nodes,
                            const DropoutMask& mask) {
    ctx->save_for_backward({nodes});
    ctx->saved_data["mask"] = std::vector<std::int64_t>{mask.seed, mask.step, mask.layer, mask.threshold};
    ctx->saved_data["scale"] = static_cast<double>(mask.scale);
    return apply_dropout(x, nodes, mask);
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor nodes = ctx->get_saved_variables()[0];
    return {apply_dropout(grads[0].contiguous(), nodes, mask_of(ctx)), {}, {}};
  }
  static DropoutMask mask_of(AutogradContext* ctx) {
    const auto saved = ctx->saved_data["mask"].toIntVector();
    const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(saved[i]); };
    return {at(0), at(1), at(2), at(3), static_cast<float>(ctx->saved_data["scale"].toDouble())};
  }
};

struct ReluDropout : Function<ReluDropout> {
  static at::Tensor forward(AutogradContext* ctx, const at::Tensor& x, const at::Tensor& nodes,
                            const DropoutMask& mask) {
    at::Tensor out = make_f32(x.sizes(), x);
    // above 0 exactly where x was, and the mask kept it: a bit an element, where the result would be 32 to read
    const at::Tensor positive = at::empty({x.size(0), (x.size(1) + 7) / 8}, x.options().dtype(at::kByte));
    on_device_of(x, [&](auto... stream) {
      dropout(mask, Activation::kRelu, rows_of(x, nodes),
              {out.mutable_data_ptr<float>(), positive.mutable_data_ptr<std::uint8_t>()}, stream...);
    });
    ctx->saved_data["scale"] = static_cast<double>(mask.scale);
    ctx->save_for_backward({positive});
    return out;
  }
  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const at::Tensor positive = ctx->get_saved_variables()[0], grad_out = grads[0].contiguous();
    at::Tensor grad_x = make_f32(grad_out.sizes(), grad_out);
    on_device_of(grad_out, [&](auto... stream) {
      scale_where_positive({pointer<std::uint8_t>(positive), grad_out.size(0), grad_out.size(1)},
                           pointer<float>(grad_out), static_cast<float>(ctx->saved_data["scale"].toDouble()),
                           grad_x.mutable_data_ptr<float>(), stream...);
    });
    return {grad_x, {}, {}};
  }
};

at::Tensor rows_to_drop(const at::Tensor& x, const DropoutKey& key) {
  require(x.dim() == 2, "dropout works on a matrix");
  require(key.nodes.scalar_type() == at::kInt && key.nodes.is_contiguous(), "the dropout key's nodes are int32");
  require(key.nodes.device() == x.device() && key.nodes.numel() >= x.size(0), "the dropout key names every row of x");
  return x.to(at::kFloat).contiguous();
}

}  // namespace

at::Tensor node_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer) {
  if (p == 0) return x.to(at::kFloat);
  return Dropout::apply(rows_to_drop(x, key), key.nodes, DropoutMask::make(p, key.seed, key.step, layer));
}

at::Tensor relu_dropout(const at::Tensor& x, double p, const DropoutKey& key, std::uint32_t layer) {
  return ReluDropout::apply(rows_to_drop(x, key), key.nodes, DropoutMask::make(p, key.seed, key.step, layer));
}

}  // namespace salient
