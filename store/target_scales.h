// store/target_scales.h - the unit of a model's values: the deviation of training nodes, from their mean on.
#pragma once

#include "store/dataset.h"

namespace salient {

/// Of the known values of training nodes, in double precision; of a target that has none, or equal ones alone, the
/// deviation is 1. Empty for other tasks than regression.
TargetScales target_scales_of(const Dataset& dataset);

/// [V, targets] the values in that unit, NaN where not known. @param dataset  of regression
std::vector<float> scaled_targets(const Dataset& dataset);

}  // namespace salient
