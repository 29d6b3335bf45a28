// benchmarks/gpu_ceilings.cpp - see gpu_ceilings.h.
#include "benchmarks/gpu_ceilings.h"

#include <ATen/Context.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>

#include <algorithm>
#include <functional>

#include "core/timer.h"

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

}  // namespace

GpuCeilings measure_gpu_ceilings(const ComputeDevice& device, Precision precision) {
  constexpr std::int64_t kBytes = std::int64_t{1} << 29, kSide = 8192;
  const auto on_device = at::TensorOptions(device.torch_device());
  const at::Tensor from = at::empty({kBytes}, on_device.dtype(at::kByte)), to = at::empty({kBytes}, from.options());
  const double copied = best_seconds(device, [&] { to.copy_(from); });
  const auto factor = on_device.dtype(precision == Precision::kBf16 ? at::kBFloat16 : at::kFloat);
  const at::Tensor a = at::randn({kSide, kSide}, factor), b = at::randn({kSide, kSide}, factor);
  const bool before = at::globalContext().allowTF32CuBLAS();
  at::globalContext().setAllowTF32CuBLAS(precision == Precision::kTf32);
  const double multiplied = best_seconds(device, [&] { (void)at::mm(a, b); });
  at::globalContext().setAllowTF32CuBLAS(before);
  return {2.0 * kBytes / copied, 2.0 * kSide * kSide * kSide / multiplied};
}

}  // namespace salient
