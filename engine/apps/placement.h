// engine/apps/placement.h - where the ranks of a run are, and what each has there.
#pragma once

#include <string>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "engine/train/train_options.h"
#include "models/compute_device.h"

namespace salient {

/// Collective. Rank 0 logs a table of all ranks (host, device, cores, batch workers, free memory), and one warning when
/// ranks are bound to fewer cores than their share. Nothing for a single rank.
void log_placement(Communicator& comm, const Launch& launch, const ComputeDevice& device, const TrainOptions& options);

}  // namespace salient
