// models/ops/adam.cpp - see adam.h.
#include "models/ops/adam.h"

#include <ATen/ops/_fused_adam.h>

#include "core/adam_row.h"
#include "models/kernels/adam_rows.h"
#include "models/kernels/parallel.h"
#include "models/ops/kernel_call.h"

namespace salient {
namespace {

void step_on_host(const AdamTensors& t, const AdamRates& rates) {
  t.step.add_(1);
  at::_fused_adam_({t.parameters}, {t.gradients}, {t.exp_avg}, {t.exp_avg_sq}, {}, {t.step}, rates.lr, rates.beta1,
                   rates.beta2, rates.weight_decay, rates.eps, /*amsgrad=*/false, /*maximize=*/false);
}

void rows_step_on_host(const AdamRowTensors& t, double lr, double weight_decay) {
  const std::int64_t width = t.table.size(1);
  const AdamRowRates rates =
      AdamRowRates::of_step(double{t.step.item<float>()} + 1, lr, static_cast<float>(weight_decay));
  const auto* const rows = t.rows.const_data_ptr<std::int64_t>();
  const auto* const gradients = t.gradients.const_data_ptr<float>();
  float* const x = t.table.mutable_data_ptr<float>();
  float *const first = t.exp_avg.mutable_data_ptr<float>(), *const second = t.exp_avg_sq.mutable_data_ptr<float>();
  constexpr std::int64_t kPerTask = 256;
  parallel_rows(t.rows.numel(), kPerTask, [&](std::int64_t i) {
    const std::int64_t at = rows[i] * width;
    adam_row(rates, x + at, first + at, second + at, gradients + i * width, width);
  });
}

void rows_step_on_device(const AdamRowTensors& t, const AdamRates& rates) {
  const c10::DeviceGuard guard(t.table.device());
  adam_rows_step({.table = t.table.mutable_data_ptr<float>(),
                  .exp_avg = t.exp_avg.mutable_data_ptr<float>(),
                  .exp_avg_sq = t.exp_avg_sq.mutable_data_ptr<float>(),
                  .rows = t.rows.const_data_ptr<std::int64_t>(),
                  .gradients = t.gradients.const_data_ptr<float>(),
                  .step = t.step.const_data_ptr<float>(),
                  .count = t.rows.numel(),
                  .width = t.table.size(1)},
                 rates, current_stream(t.table.device()));
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

void adam_rows_step(const AdamRowTensors& tensors, double lr, double weight_decay) {
  if (tensors.rows.numel() == 0) return;
  if (tensors.table.is_cpu()) return rows_step_on_host(tensors, lr, weight_decay);
  rows_step_on_device(tensors, adam_rates(lr, weight_decay));
}

}  // namespace salient
