// benchmarks/step_kernels.cpp - see step_kernels.h.
#include "benchmarks/step_kernels.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <span>

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

bool is_seen(double launches, double seconds) { return launches > 0 && seconds > 1e-7; }

void note_kernels(BenchReport& report, const std::string& row, const std::vector<StepKernel>& kernels) {
  for (const StepKernel& kernel : std::span(kernels).first(std::min<std::size_t>(kernels.size(), 20))) {
    if (!is_seen(kernel.launches, kernel.seconds)) break;
    char text[200];
    (void)std::snprintf(text, sizeof text, "%5.1f launches %8.1f us  %.120s", kernel.launches, kernel.seconds * 1e6,
                        kernel.name.c_str());
    report.add_note(row + ", per step: " + text);
  }
}

}  // namespace salient
