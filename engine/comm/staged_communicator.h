// engine/comm/staged_communicator.h - device memory over a host back end: ranks that share a GPU, builds without NCCL.
#pragma once

#include <memory>

#include "engine/comm/communicator.h"

namespace salient {

/// Copies device data to pinned memory, lets `host` exchange it, copies it back; the host waits each time. Slow, but it
/// works between any ranks, and is a second opinion on nccl.
std::unique_ptr<Communicator> make_staged_communicator(std::unique_ptr<Communicator> host);

}  // namespace salient
