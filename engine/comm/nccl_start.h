// engine/comm/nccl_start.h - NCCL's communicator between the ranks of another back end. For this folder's nccl_*.cpp.
#pragma once

#include <nccl.h>

#include "engine/comm/communicator.h"

namespace salient {

/// Rank 0's, on all ranks. Collective.
ncclUniqueId common_id(Communicator& control);

/// A blocking communicator of the ranks' current devices. Collective.
/// @throws RankError{kComm} when a rank does not come in time; Error{kComm}
ncclComm_t start_nccl(Communicator& control, double timeout_seconds);

}  // namespace salient
