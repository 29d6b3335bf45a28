// loaders/near_copies_absent.cpp - replaces near_copies.cpp in a build without CUDA, where there are no shards.
#include "core/error.h"
#include "loaders/near_copies.h"

namespace salient {

void NearCopies::Free::operator()(NodeSetWord*) const noexcept {}

NearCopies::NearCopies(const Shards& shards, const std::vector<NodeId>& nodes)
    : nodes_(shards.table().num_rows, nodes), first_(shards.near_row()) {
  fail(ErrorKind::kNoDevice, "no feature rows in GPU memory: this is a build without CUDA", Topic::kDeviceFeatures);
}

}  // namespace salient
