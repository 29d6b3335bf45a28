// engine/device/planned_data.cpp - see planned_data.h.
#include "engine/device/planned_data.h"

#include <algorithm>

#include "core/console/log.h"
#include "core/host/machine.h"

namespace salient {

ResidencyRequest request_of(const MachineOptions& options) {
  return {.features = options.features,
          .graph = options.sampler,
          .cache_bytes = static_cast<std::int64_t>(options.cache_gb * 1e9),
          .cache_policy = options.cache_policy};
}

FreeMemory free_memory(const ComputeDevice& device, int ranks_on_host) {
  return {.host_bytes = std::max<std::int64_t>(0, available_host_bytes()) / ranks_on_host,
          .device_bytes = device.free_bytes()};
}

ResidentData make_resident(const ResidencyRequest& request, const Dataset& dataset, const RunNeeds& needs,
                           const ComputeDevice& device, int ranks_on_host) {
  const DataPlan plan = plan_residency(request, dataset, needs, free_memory(device, ranks_on_host));
  if (device.is_cuda()) log_info(summary_of(plan, dataset));
  return ResidentData(dataset, plan.residency, plan.sampling);
}

}  // namespace salient
