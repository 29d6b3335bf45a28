// engine/device/planned_data.h - from a user's choices and a run's needs to the data on the GPU, on all ranks.
#pragma once

#include <functional>
#include <string>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/device/compute_device.h"
#include "engine/device/data_plan.h"
#include "engine/device/machine_options.h"
#include "loaders/resident_data.h"

namespace salient {

ResidencyRequest request_of(const MachineOptions& options);

/// Now, when the ranks are connected: what their communicators took, NCCL's for rows too, is no longer free.
/// @param ranks_on_host  that share the host's memory
FreeMemory free_memory(const ComputeDevice& device, int ranks_on_host);

/// A rank among the others.
struct RankPlace {
  Communicator& comm;
  const Launch& launch;
  const ComputeDevice& device;
};

/// Plans on every rank; rows are sharded on all of them or on none. Collective.
/// @param why_not_sharded  so that they are on none; "" = they may be. Logged where this changes the plan.
/// @throws RankError on all ranks, as plan_residency().
DataPlan plan_on_all_ranks(Communicator& comm, ResidencyRequest request, const Dataset& dataset,
                           const std::function<RunNeeds()>& find_needs, const FreeMemory& free,
                           const std::string& why_not_sharded);

/// The same for the memory that is free now, and GPUs as they are linked: rows are sharded where each GPU reads every
/// other's memory by NVLink, or where that was asked for and it reads them somehow. Logs the result. Collective.
/// @throws RankError on all ranks, as above and parts_with_rows(), or kUsage where rows cannot be sharded as asked.
DataPlan plan_data(const RankPlace& place, ResidencyRequest request, const Dataset& dataset,
                   const std::function<RunNeeds()>& find_needs);

/// Copies. Collective; blocks until all ranks have.
/// @param dataset  outlives the result
/// @param rows     writes feature rows for sharded ones; null: those of the data set
/// @throws RankError on all ranks, as ResidentData and ShardMemory.
ResidentData make_resident(const RankPlace& place, const Dataset& dataset, const DataPlan& plan,
                           const RowWriter& rows = nullptr);

}  // namespace salient
