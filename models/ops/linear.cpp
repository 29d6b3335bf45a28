// models/ops/linear.cpp - see linear.h.
#include "models/ops/linear.h"

#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include "core/host/processor.h"

namespace salient {
namespace {

/// Lets cuBLAS round f32 inputs to TF32 while it lives.
class Tf32Scope {
 public:
  Tf32Scope() : before_(at::globalContext().allowTF32CuBLAS()) { at::globalContext().setAllowTF32CuBLAS(true); }
  ~Tf32Scope() { at::globalContext().setAllowTF32CuBLAS(before_); }
  Tf32Scope(const Tf32Scope&) = delete;
  Tf32Scope& operator=(const Tf32Scope&) = delete;

 private:
  bool before_;
};

/// Products of x are made in f32 whatever the precision.
bool is_f32(const at::Tensor& x, Precision precision) {
  return precision == Precision::kFp32 || (!x.is_cuda() && (precision == Precision::kTf32 || !has_bf16_products()));
}

/// What x is multiplied as.
at::Tensor as_factor(const at::Tensor& x, Precision precision) {
  return x.to(precision == Precision::kBf16 && !is_f32(x, precision) ? at::kBFloat16 : at::kFloat);
}

/// a b of bfloat16 factors with f32 sums; on the host, which has no such product, rounded to bfloat16 at the end.
at::Tensor bf16_product(const at::Tensor& a, const at::Tensor& b) {
  return a.is_cuda() ? at::mm(a, b, at::kFloat) : at::mm(a, b);
}

/// The factors are kept for the backward pass as they were multiplied: in bfloat16 they are half the memory of f32.
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
  if (left.scalar_type() == at::kBFloat16) return bf16_product(left, right).to(at::kFloat);
  if (precision != Precision::kTf32) return at::mm(left, right);
  const Tf32Scope scope;
  return at::mm(left, right);
}

void add_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b, Precision precision) {
  const at::Tensor left = as_factor(a, precision), right = as_factor(b, precision);
  if (left.scalar_type() == at::kBFloat16) {
    y.add_(bf16_product(left, right));
  } else if (precision != Precision::kTf32) {
    y.addmm_(left, right);
  } else {
    const Tf32Scope scope;
    y.addmm_(left, right);
  }
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias, Precision precision) {
  if (is_f32(x, precision)) return at::linear(x.to(at::kFloat), weight, bias);
  const at::Tensor y = RoundedLinear::apply(x, weight, precision);
  return bias.defined() ? at::add(y, bias) : y;
}

}  // namespace salient
