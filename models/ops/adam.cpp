// models/ops/adam.cpp - see adam.h.
#include "models/ops/adam.h"

#include <ATen/ops/_fused_adam.h>

#include "models/ops/kernel_call.h"

namespace salient {
namespace {

void step_on_host(const AdamTensors& t, const AdamRates& rates) {
  t.step.add_(1);
  at::_fused_adam_({t.parameters}, {t.gradients}, {t.exp_avg}, {t.exp_avg_sq}, {}, {t.step}, rates.lr, rates.beta1,
                   rates.beta2, rates.weight_decay, rates.eps, /*amsgrad=*/false, /*maximize=*/false);
}

}  // namespace

AdamState device_state_of(const AdamTensors& tensors) {
  const auto values = [](const at::Tensor& tensor) { return tensor.mutable_data_ptr<float>(); };
  return {.parameters = values(tensors.parameters),
          .gradients = values(tensors.gradients),
          .exp_avg = values(tensors.exp_avg),
          .exp_avg_sq = values(tensors.exp_avg_sq),
          .step = values(tensors.step),
          .num_finished_blocks = static_cast<unsigned*>(tensors.num_finished_blocks.mutable_data_ptr()),
          .size = tensors.parameters.numel()};
}

AdamRates adam_rates(double lr, double weight_decay) {
  return {.lr = lr, .weight_decay = weight_decay, .beta1 = 0.9, .beta2 = 0.999, .eps = 1e-8};
}

void adam_step(const AdamTensors& tensors, double lr, double weight_decay) {
  const AdamRates rates = adam_rates(lr, weight_decay);
  if (tensors.parameters.is_cpu()) return step_on_host(tensors, rates);
  const c10::DeviceGuard guard(tensors.parameters.device());
  adam_step(device_state_of(tensors), rates, current_stream(tensors.parameters.device()));
}

}  // namespace salient
