// engine/comm/host_share.h - data that one rank of each host makes for all ranks of the host.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"

namespace salient {

/// @return on all ranks, the bytes of every rank in rank order. Collective; for small amounts.
std::vector<std::string> gather_on_all(Communicator& comm, std::string_view bytes);

/// Calls `make` on the first rank of every host; the others wait asleep, up to the time-out.
/// Collective. @return on every rank, the result of the first rank of its host.
/// @throws RankError on all ranks when it failed on one.
std::string made_once_per_host(Communicator& comm, const Launch& launch, const std::function<std::string()>& make);

}  // namespace salient
