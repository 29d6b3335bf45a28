// engine/device/planned_data.h - from a user's choices and a run's needs to the data on the GPU.
#pragma once

#include "engine/device/compute_device.h"
#include "engine/device/data_plan.h"
#include "engine/device/machine_options.h"
#include "loaders/resident_data.h"

namespace salient {

ResidencyRequest request_of(const MachineOptions& options);

/// Now. @param ranks_on_host  that share the host's memory
FreeMemory free_memory(const ComputeDevice& device, int ranks_on_host);

/// Plans, logs the result where there is a GPU, and copies. Blocks until done.
/// @param dataset  outlives the result
/// @throws as plan_residency() and ResidentData.
ResidentData make_resident(const ResidencyRequest& request, const Dataset& dataset, const RunNeeds& needs,
                           const ComputeDevice& device, int ranks_on_host);

}  // namespace salient
