// benchmarks/step_kernels.cpp - see step_kernels.h.
#include "benchmarks/step_kernels.h"

#include <algorithm>
#include <map>

#include "benchmarks/gpu_activity.h"
#include "core/console/log.h"

namespace salient {
namespace {

/// While it lives only warnings are logged: the losses of these short trainings mean nothing.
struct Quiet {
  Quiet() { set_log_level(LogLevel::kWarning); }
  ~Quiet() { set_log_level(LogLevel::kInfo); }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

std::vector<GpuActivity::Total> activity_of(const std::function<void()>& work) {
  GpuActivity activity;
  work();
  return activity.totals();
}

}  // namespace

std::vector<StepKernel> step_kernels(const std::function<void()>& less, const std::function<void()>& more,
                                     std::size_t steps) {
  const Quiet quiet;
  std::map<std::string, StepKernel> sums;
  for (const int sign : {-1, 1})
    for (const GpuActivity::Total& total : activity_of(sign < 0 ? less : more)) {
      StepKernel& sum = sums[total.name];
      sum.launches += sign * static_cast<double>(total.launches) / static_cast<double>(steps);
      sum.seconds += sign * total.seconds / static_cast<double>(steps);
    }
  std::vector<StepKernel> kernels;
  for (const auto& [name, sum] : sums) kernels.push_back({name, sum.launches, sum.seconds});
  std::ranges::sort(kernels, std::greater(), &StepKernel::seconds);
  return kernels;
}

}  // namespace salient
