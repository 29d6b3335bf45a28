// workbench/backend/nvml.cpp - see nvml.h. The functions of NVML that are called, written by hand as those of
// cuda_driver.h are; all return 0 where they could.
#include "workbench/backend/nvml.h"

#include <dlfcn.h>

#include <chrono>

#include "workbench/backend/cuda_driver.h"

namespace salient::workbench {
namespace {

template <class Function>
Function* symbol(void* library, const char* name) {
  return library == nullptr ? nullptr : reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

std::optional<EnergyMeter> EnergyMeter::find(int ordinal) {
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);  // open until the process ends
  auto* const init = symbol<int()>(library, "nvmlInit_v2");
  auto* const by_bus = symbol<int(const char*, void**)>(library, "nvmlDeviceGetHandleByPciBusId_v2");
  auto* const counter = symbol<Read>(library, "nvmlDeviceGetTotalEnergyConsumption");
  if (init == nullptr || by_bus == nullptr || counter == nullptr || init() != 0) return std::nullopt;
  char bus[32] = {};  // NVML counts all GPUs, the driver those that are visible
  void* device = nullptr;
  unsigned long long now = 0;
  if (cuda_driver().device_bus(bus, sizeof bus, ordinal) != kCudaSuccess || by_bus(bus, &device) != 0 ||
      counter(device, &now) != 0)
    return std::nullopt;
  return EnergyMeter(counter, device);
}

double joules_of_run(int ordinal, double seconds, const std::function<void(int)>& run) {
  const std::optional<EnergyMeter> meter = EnergyMeter::find(ordinal);
  return meter ? joules_of_run([&] { return meter->read(); }, seconds, run) : 0;
}

double joules_of_run(const std::function<std::optional<double>()>& read, double seconds,
                     const std::function<void(int)>& run) {
  using Clock = std::chrono::steady_clock;
  constexpr int kRunsPerReading = 16;
  constexpr std::chrono::seconds kPatience{1};  // for a second step
  std::optional<double> seen = read(), first;
  double last = 0;
  long runs = 0, runs_at_first = 0, runs_at_last = 0;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end || (runs_at_last == runs_at_first && Clock::now() < end + kPatience)) {
    run(kRunsPerReading);
    runs += kRunsPerReading;
    const std::optional<double> now = read();
    if (!now || now == seen) continue;  // between two steps
    const bool is_step = seen.has_value();
    seen = now;
    if (!is_step) continue;  // the counter may stand since long
    last = *now;
    runs_at_last = runs;
    if (!first) first = now, runs_at_first = runs;
  }
  return runs_at_last == runs_at_first ? 0 : (last - *first) / static_cast<double>(runs_at_last - runs_at_first);
}

std::optional<double> EnergyMeter::read() const {
  unsigned long long millijoules = 0;
  if (function_(device_, &millijoules) != 0) return std::nullopt;
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace salient::workbench
