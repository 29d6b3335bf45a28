// engine/device/gpu_links.h - how the GPUs of all ranks reach each other's memory.
#pragma once

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "loaders/shards.h"

namespace salient {

/// Collective, on one host. Returns the obstacle and the slow link of the first rank that has one, the same on all;
/// none where a rank has no GPU, which is refused with what else needs one.
/// @throws RankError on all ranks
PeerReach reach_of_all_gpus(Communicator& comm, const ComputeDevice& device);

}  // namespace salient
