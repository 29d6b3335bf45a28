// engine/device/fit_to_machine.h - how many threads and slots a run takes when nobody says.
#pragma once

#include <algorithm>

#include "engine/device/compute_device.h"
#include "loaders/batch_loader.h"

namespace salient {

/// Resolves the "0 = default" of threads, workers and slots, and the device "auto".
/// @param cores  this rank's share of the host's.
template <class Options>
void fit_to_machine(Options& options, const ComputeDevice& device, int cores) {
  options.device = device.is_cuda() ? "cuda" : "cpu";
  if (options.threads == 0) options.threads = device.is_cuda() ? 1 : cores;
  if (options.workers == 0) options.workers = std::max(1, cores - 2);
  if (options.slots == 0) options.slots = default_slots(options.workers);
}

}  // namespace salient
