// engine/device/planned_data.h - from a user's choices and a run's needs to the data on the GPU, on all ranks.
#pragma once

#include <functional>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/device/compute_device.h"
#include "engine/device/data_plan.h"
#include "engine/device/machine_options.h"
#include "loaders/resident_data.h"

namespace salient {

ResidencyRequest request_of(const MachineOptions& options);

/// Now. @param ranks_on_host  that share the host's memory
FreeMemory free_memory(const ComputeDevice& device, int ranks_on_host);

/// A rank among the others.
struct RankPlace {
  Communicator& comm;
  const Launch& launch;
  const ComputeDevice& device;
};

/// Plans on every rank, and logs the result where there is a GPU. Rows are sharded on all ranks or on none. Collective.
/// @throws RankError on all ranks, as plan_residency(), or kUsage where rows were to be sharded and cannot be.
DataPlan plan_data(const RankPlace& place, ResidencyRequest request, const Dataset& dataset,
                   const std::function<RunNeeds()>& find_needs);

/// Copies. Collective; blocks until all ranks have.
/// @param dataset  outlives the result
/// @param rows     writes feature rows for sharded ones; null: those of the data set
/// @throws RankError on all ranks, as ResidentData and ShardMemory.
ResidentData make_resident(const RankPlace& place, const Dataset& dataset, const DataPlan& plan,
                           const RowWriter& rows = nullptr);

}  // namespace salient
