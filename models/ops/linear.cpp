// models/ops/linear.cpp - see linear.h.
#include "models/ops/linear.h"

#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/host/processor.h"
#include "models/ops/tf32_scope.h"

namespace salient {
namespace {

/// Lets oneDNN round f32 factors of matrix products to bfloat16 as it reads them while it lives; sums stay f32.
class HostBf16Scope {
 public:
  HostBf16Scope() : before_(at::globalContext().float32Precision(kBackend, kOp)) { set(at::Float32Precision::BF16); }
  ~HostBf16Scope() { set(before_); }
  HostBf16Scope(const HostBf16Scope&) = delete;
  HostBf16Scope& operator=(const HostBf16Scope&) = delete;

 private:
  static constexpr at::Float32Backend kBackend = at::Float32Backend::MKLDNN;
  static constexpr at::Float32Op kOp = at::Float32Op::MATMUL;
  static void set(at::Float32Precision precision) { at::globalContext().setFloat32Precision(kBackend, kOp, precision); }
  at::Float32Precision before_;
};

/// Products of x are made in f32 whatever the precision.
bool is_f32(const at::Tensor& x, Precision precision) {
  return precision == Precision::kFp32 || (!x.is_cuda() && (precision == Precision::kTf32 || !has_bf16_products()));
}

/// What x is multiplied as: tensors of bfloat16 on a GPU alone, since a host takes longer to convert them.
at::Tensor as_factor(const at::Tensor& x, Precision precision) {
  return x.to(precision == Precision::kBf16 && x.is_cuda() ? at::kBFloat16 : at::kFloat);
}

/// multiply() of f32 factors like x, rounded as the precision says.
template <class Multiply>
void with_rounding(const at::Tensor& x, Precision precision, const Multiply& multiply) {
  if (is_f32(x, precision)) return multiply();
  if (x.is_cuda()) {
    const Tf32Scope scope;
    multiply();
  } else {
    const HostBf16Scope scope;
    multiply();
  }
}

/// The factors are kept for the backward pass as they were multiplied: on a GPU in bfloat16, half the memory of f32.
struct RoundedLinear : torch::autograd::Function<RoundedLinear> {
  static at::Tensor forward(torch::autograd::AutogradContext* ctx, const at::Tensor& x, const at::Tensor& weight,
                            Precision precision) {
    const at::Tensor factor = as_factor(x, precision), weight_factor = as_factor(weight, precision);
    ctx->save_for_backward({factor, weight_factor});
    ctx->saved_data["precision"] = static_cast<std::int64_t>(precision);
    return product(factor, weight_factor.t(), precision);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* ctx,
                                                 const torch::autograd::variable_list& grads) {
    const auto precision = static_cast<Precision>(ctx->saved_data["precision"].toInt());
    const auto saved = ctx->get_saved_variables();
    const at::Tensor grad = as_factor(grads[0], precision);
    at::Tensor grad_x;
    if (ctx->needs_input_grad(0)) grad_x = product(grad, saved[1], precision);
    return {grad_x, product(grad.t(), saved[0], precision), {}};
  }
};

}  // namespace

at::Tensor product(const at::Tensor& a, const at::Tensor& b, Precision precision) {
  const at::Tensor left = as_factor(a, precision), right = as_factor(b, precision);
  if (left.scalar_type() == at::kBFloat16) return at::mm(left, right, at::kFloat);
  at::Tensor result;
  with_rounding(left, precision, [&] { result = at::mm(left, right); });
  return result;
}

void add_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, Precision precision) {
  const at::Tensor left = as_factor(a, precision), right = as_factor(b, precision);
  if (left.scalar_type() == at::kBFloat16) {
    y.add_(at::mm(left, right, at::kFloat));
  } else {
    with_rounding(left, precision, [&] { y.addmm_(left, right); });
  }
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, Precision precision) {
  if (is_f32(x, precision)) return at::linear(x.to(at::kFloat), weight, bias);
  const at::Tensor y = RoundedLinear::apply(x, weight, precision);
  return bias.defined() ? at::add(y, bias) : y;
}

}  // namespace salient
