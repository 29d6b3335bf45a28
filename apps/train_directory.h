// apps/train_directory.h - the directory of a training run: checked, made, or taken over from the run that is resumed.
#pragma once

#include <optional>

#include "apps/train_run.h"

namespace salient {

/// Whether take_directory() would do, without a trace on disk. For rank 0. @throws what it throws.
void check_directory(const TrainRun& run);

/// Rank 0 makes the run directory, or takes over the one that is resumed, and locks it for this program; all ranks
/// learn its name. The log and the configuration go there. Collective.
/// @return the lock, on rank 0
/// @throws as make_run_directory(), RunLock and check_latest_checkpoint().
std::optional<RunLock> take_directory(TrainRun& run);

}  // namespace salient
