// apps/pinning.h - on which cores of its host a rank runs.
#pragma once

#include <string>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/device/compute_device.h"

namespace salient {

/// On a host with several NUMA nodes, pins the threads that this rank starts from now on to the cores near its GPU, or
/// near its share of the memory, unless the launcher has bound the ranks already or cores would be left over.
/// Collective.
/// @return the numbers of the nodes, "0" or "0,1"; "-" = any
std::string pin_near_device(Communicator& comm, const Launch& launch, const ComputeDevice& device);

}  // namespace salient
