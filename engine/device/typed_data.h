// engine/device/typed_data.h - what of a typed graph may be in GPU memory: the whole graph, and rows of dense features,
// all of them or those that are met most.
#pragma once

#include <cstdint>

#include "engine/device/data_plan.h"
#include "loaders/residency.h"
#include "store/dataset.h"

namespace salient {

/// Of the feature rows that a GPU can hold: the dense ones of a typed graph, or all of a plain one.
std::int64_t device_feature_bytes(const Dataset& dataset);

/// What a GPU takes of them where each of several has a part: of a typed graph of each type's.
std::int64_t shard_feature_bytes(const Dataset& dataset, int num_shards);

/// Whether a typed graph can be there.
bool is_possible_of_types(const DataResidency& residency, const Dataset& dataset);

/// @param is_limited  whether fewer bytes were asked for than the graph takes
/// @throws Error{kUsage} for what a typed graph cannot have, whatever fits
void check_request_of_types(const ResidencyRequest& request, const Dataset& dataset, bool is_limited);

}  // namespace salient
