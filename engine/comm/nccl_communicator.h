// engine/comm/nccl_communicator.h - the device back end: NCCL between GPUs, MPI for everything else.
#pragma once

#include <memory>

#include "engine/comm/comm_options.h"
#include "engine/comm/communicator.h"

namespace salient {

/// Whether this build has NCCL.
bool has_nccl();

/// Collective. Uses the current device, which no other rank may use. Ranks are connected when it returns.
///
/// all_reduce_sum(float) and broadcast(float) enqueue and return; all go to one stream. A thread watches its progress:
/// when NCCL reports an error, or nothing has finished for `timeout_seconds`, it aborts NCCL's work, and kernels of
/// watch() end, with values that are not numbers. A wait for the stream then returns, and the next call throws. If
/// there is no call within 10 s the thread ends the process with exit code 75.
///
/// @param control  host communication, for ids, agreements and metrics.
/// @param rows     whether rows() is NCCL, too, with a communicator, a stream and a watch of its own, or `control`'s.
/// @throws RankError{kUsage} when two ranks share a GPU, which its UUID says; Error{kComm}; kUsage in a build without
///         NCCL.
std::unique_ptr<Communicator> make_nccl_communicator(std::unique_ptr<Communicator> control, double timeout_seconds,
                                                     RowBackend rows = RowBackend::kMpi);

/// ncclAllReduce itself between the ranks of `control`, in a communicator of its own. Collective.
BareAllReduce make_bare_nccl_all_reduce(Communicator& control);

}  // namespace salient
