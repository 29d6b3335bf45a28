// apps/placement.h - where the ranks of a run are, and what each has there.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/device/compute_device.h"

namespace salient {

/// On a host with several NUMA nodes, keeps the threads that this rank starts from now on near its GPU, or near the
/// memory that fell to it, unless the launcher has bound the ranks already or cores would be left over. Collective.
/// @return the numbers of the nodes, "0" or "0,1"; "-" = anywhere
std::string stay_near_device(Communicator& comm, const Launch& launch, const ComputeDevice& device);

/// Of each rank: rank, host, device, numa_nodes, cores, workers, free_memory, as run.json and the report have them.
using Placement = std::vector<std::map<std::string, std::string>>;

/// Collective. Rank 0 logs a table of all ranks, and one warning when ranks are bound to fewer cores than their share.
/// Nothing is logged for a single rank.
///
/// @param place  of stay_near_device().
/// @return       the table on rank 0, nothing elsewhere
Placement log_placement(Communicator& comm, const Launch& launch, const ComputeDevice& device, int num_workers,
                        const std::string& place);

}  // namespace salient
