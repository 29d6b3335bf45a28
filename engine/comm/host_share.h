// engine/comm/host_share.h - what the ranks of one host make once, for all of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// Any bytes of every rank, on all ranks, in rank order. Collective; for small things.
std::vector<std::string> gather_on_all(Communicator& comm, std::string_view bytes);

/// Calls `make` on the first rank of every host while the others wait asleep, as long as the time-out allows.
/// Collective. @return on every rank, what the first rank of its host returned.
/// @throws RankError on all ranks when it failed on one.
std::string made_once_per_host(Communicator& comm, const Launch& launch, const std::function<std::string()>& make);

}  // namespace salient
