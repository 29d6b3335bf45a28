// engine/device/rank_parts.h - the parts of a data set, on which all ranks agree.
#pragma once

#include "engine/comm/communicator.h"
#include "sampler/seed_dealing.h"
#include "store/parts.h"

namespace salient {

/// For features in parts. Collective. The data set's checksum does not cover owner.npy, which can be made again on one
/// host alone, and ranks that disagree on owners ask each other for rows that nobody has.
/// @throws RankError on all ranks, as open_parts_of_ranks(); kBadData naming the first rank whose owners are not rank
///         0's
Parts parts_with_rows(const Dataset& dataset, Communicator& comm);

/// Likewise by which seeds are dealt, of at least as many parts as ranks; none where they are dealt evenly, or there is
/// one rank. Collective. @throws as parts_with_rows()
Parts parts_to_deal_by(DealKind deal, const Dataset& dataset, Communicator& comm);

}  // namespace salient
