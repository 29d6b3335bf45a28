// engine/device/gpu_links.h - how the GPUs of all ranks reach each other's memory.
#pragma once

#include "engine/comm/communicator.h"
#include "engine/device/compute_device.h"
#include "loaders/shards.h"

namespace salient {

/// The same on all ranks, which are on one host: what the first one of them lacks. Without a GPU on some rank nothing,
/// as that is refused with what else needs one. Collective.
/// @throws RankError on all ranks
PeerReach reach_of_all_gpus(Communicator& comm, const ComputeDevice& device);

}  // namespace salient
