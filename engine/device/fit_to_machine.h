// engine/device/fit_to_machine.h - how many threads and slots a run takes where the user does not say.
#pragma once

#include "engine/device/compute_device.h"
#include "engine/device/machine_options.h"

namespace salient {

/// Resolves device, threads, workers and slots.
/// @param cores  this rank's share of the host's.
void fit_to_machine(MachineOptions& options, const ComputeDevice& device, int cores);

}  // namespace salient
