// models/precision.cpp - see precision.h.
#include "models/precision.h"

#include <ATen/Context.h>
#include <ATen/ops/add.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/mm.h>
#include <torch/csrc/autograd/custom_function.h>

#include <atomic>

namespace salient {
namespace {

std::atomic<Precision> g_precision{Precision::kFp32};

bool rounds_to_bf16(const at::Tensor& x) { return g_precision == Precision::kBf16 && x.is_cuda(); }

/// Inputs in bfloat16, results in f32. The rounded copies are kept for the backward pass: half the memory of f32.
struct Bf16Linear : torch::autograd::Function<Bf16Linear> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x, const at::Tensor& weight) {
    const at::Tensor rounded_x = x.to(at::kBFloat16), rounded_weight = weight.to(at::kBFloat16);
    context->save_for_backward({rounded_x, rounded_weight});
    return at::mm(rounded_x, rounded_weight.t(), at::kFloat);
  }

  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& grads) {
    const auto saved = context->get_saved_variables();
    const at::Tensor grad = grads[0].to(at::kBFloat16);
    at::Tensor grad_x;
    if (context->needs_input_grad(0)) grad_x = at::mm(grad, saved[1], at::kFloat);
    return {grad_x, at::mm(grad.t(), saved[0], at::kFloat)};
  }
};

}  // namespace

void set_precision(Precision precision) {
  g_precision = precision;
  at::globalContext().setAllowTF32CuBLAS(precision == Precision::kTf32);
}

at::Tensor product(const at::Tensor& a, const at::Tensor& b) {
  if (rounds_to_bf16(a)) return at::mm(a.to(at::kBFloat16), b.to(at::kBFloat16), at::kFloat);
  return at::mm(a.to(at::kFloat), b.to(at::kFloat));
}

void add_product(const at::Tensor& y, const at::Tensor& a, const at::Tensor& b) {
  if (rounds_to_bf16(a))
    y.add_(product(a, b));
  else
    y.addmm_(a.to(at::kFloat), b.to(at::kFloat));
}

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
  if (!rounds_to_bf16(x)) return at::linear(x.to(at::kFloat), weight, bias);
  const at::Tensor y = Bf16Linear::apply(x, weight);
  return bias.defined() ? at::add(y, bias) : y;
}

}  // namespace salient
