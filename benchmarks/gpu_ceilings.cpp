// benchmarks/gpu_ceilings.cpp - see gpu_ceilings.h.
#include "benchmarks/gpu_ceilings.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <c10/util/Exception.h>

#include <algorithm>
#include <functional>

#include "core/timer.h"
#include "models/ops/tf32_scope.h"

namespace salient {
namespace {

double best_seconds(const ComputeDevice& device, const std::function<void()>& work) {
  constexpr int kRuns = 5, kTimes = 4;  // several at once: starting one takes 10 us
  double best = 0;
  for (int run = 0; run < kRuns; ++run) {
    device.wait();
    const Timer timer;
    for (int i = 0; i < kTimes; ++i) work();
    device.wait();
    if (run > 0) best = run == 1 ? timer.seconds() : std::min(best, timer.seconds());
  }
  return best / kTimes;
}

double copied_bytes_per_second(const ComputeDevice& device) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 28;
  const at::Tensor from = at::empty({kBytes}, at::TensorOptions(device.torch_device()).dtype(at::kByte));
  const at::Tensor to = at::empty({kBytes}, from.options());
  return 2.0 * kBytes / best_seconds(device, [&] { to.copy_(from); });
}

double operations_per_second(const ComputeDevice& device, Precision precision) {
  constexpr std::int64_t kSide = 8192;
  const auto type = precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat;
  const at::Tensor a = at::randn({kSide, kSide}, at::TensorOptions(device.torch_device()).dtype(type)), b = a.t();
  std::optional<Tf32Scope> tf32;
  if (precision == Precision::kTf32) tf32.emplace();
  return 2.0 * kSide * kSide * kSide / best_seconds(device, [&] { (void)at::mm(a, b); });
}

}  // namespace

std::optional<GpuCeilings> measure_gpu_ceilings(const ComputeDevice& device, Precision precision) {
  try {
    return GpuCeilings{copied_bytes_per_second(device), operations_per_second(device, precision)};
  } catch (const c10::OutOfMemoryError&) {
    return std::nullopt;
  }
}

}  // namespace salient
