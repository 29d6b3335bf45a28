// apps/trained_on.h - whether a run's weights are used on the data that they were trained on.
#pragma once

#include "engine/train/checkpoint.h"
#include "store/dataset.h"

namespace salient {

/// The weights may be used on other data, which a warning says, but not on data that has changed unnoticed.
/// @param is_other_data_meant  the data set was named beside the run   @throws Error{kBadData}
void check_origin(const CheckpointOrigin& origin, const Dataset& dataset, bool is_other_data_meant);

}  // namespace salient
