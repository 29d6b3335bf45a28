// engine/comm/descriptor_exchange.h - file descriptors of all ranks of a host, on every one of them.
#pragma once

#include <vector>

#include "core/host/descriptor.h"
#include "engine/comm/communicator.h"

namespace salient {

/// All ranks are on one host. Collective.
///
/// By Unix sockets, as these need no right over the other process: to read its descriptors from /proc does, and files
/// of a driver cannot be opened that way.
/// @return  of every rank, in rank order, what it passed; a copy of one's own, too
/// @throws RankError{kComm} on all ranks
std::vector<Descriptor> exchange_descriptors(Communicator& comm, const Descriptor& mine);

}  // namespace salient
