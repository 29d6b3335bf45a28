// engine/comm/nccl_communicator.h - the device back end: NCCL between GPUs, MPI for everything else.
#pragma once

#include <memory>

#include "engine/comm/communicator.h"

namespace salient {

/// Whether this build has NCCL.
bool has_nccl();

/// Collective. Uses the current device, which no other rank may use. Ranks are connected when it returns.
///
/// all_reduce_sum(float) and broadcast(float) enqueue and return; all go to one stream. A thread of its own watches how
/// far that is: when NCCL reports an error, or nothing has finished for `timeout_seconds`, it aborts NCCL's work, so that
/// whoever waits for the stream wakes up, and the next call throws. If there is none within 10 s it ends the process with
/// exit code 75.
///
/// @param control  carries ids, agreements, metrics.
/// @throws RankError{kUsage} when two ranks share a GPU; Error{kComm}; kUsage in a build without NCCL.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> control, double timeout_seconds);

/// ncclAllReduce itself between the ranks of `control`, in a communicator of its own. Collective.
BareAllReduce make_bare_nccl_all_reduce(Communicator& control);

}  // namespace salient
