// engine/device/missing_rows.h - feature rows that a host's files do not have come from the ranks that own them.
#pragma once

#include "engine/comm/communicator.h"
#include "loaders/part_rows.h"

namespace salient {

/// Brings the rows that are missing() on any rank. Collective; before anybody reads the tables.
/// @param part  of this rank, with its own rows
void fetch_missing_rows(PartRows& part, Communicator& comm);

}  // namespace salient
