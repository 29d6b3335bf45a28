// store/largest_feature.h - the feature of the largest size, for the message about a loss that is not a number.
#pragma once

#include <string>

#include "store/dataset.h"

namespace salient {

/// "the largest feature is -2.9e+38 (node 17, column 0)", or one that is not a number; "" without rows on this host.
/// Cost: reads all features once, on all cores.
std::string largest_feature_text(const Dataset& dataset);

}  // namespace salient
