// engine/device/missing_rows.h - feature rows that a host's files do not have come from the ranks that own them.
#pragma once

#include <cstddef>

#include "engine/comm/communicator.h"
#include "loaders/part_rows.h"

namespace salient {

/// A rank sends and receives no more at a time, or a row to each of the others.
inline constexpr std::size_t kMissingBytesAtOnce = std::size_t{16} << 20;

/// Brings the rows that are missing() on any rank. Collective; before anybody reads the tables.
/// @param part  of this rank, with its own rows
void fetch_missing_rows(PartRows& part, Communicator& comm);

}  // namespace salient
