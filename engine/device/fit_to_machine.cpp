// engine/device/fit_to_machine.cpp - see fit_to_machine.h.
#include "engine/device/fit_to_machine.h"

#include <algorithm>

#include "loaders/batch_loader.h"

namespace salient {

void fit_to_machine(MachineOptions& options, const ComputeDevice& device, int cores) {
  options.device = device.is_cuda() ? DeviceKind::kCuda : DeviceKind::kCpu;
  if (options.threads == 0) options.threads = device.is_cuda() ? 1 : cores;
  if (options.workers == 0) options.workers = std::max(1, cores - 2);
  if (options.slots == 0) options.slots = default_slots(options.workers);
}

}  // namespace salient
