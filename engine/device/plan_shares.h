// engine/device/plan_shares.h - what a plan puts near the GPU of rows and entries, as text.
#pragma once

#include <string>

#include "engine/device/data_plan.h"
#include "store/dataset.h"

namespace salient {

/// "12 %": of the feature rows; of a typed graph of the bytes of its dense ones.
std::string cached_share(const DataPlan& plan, const Dataset& dataset);

/// "50 % of its entries". @param plan  of a graph in part
std::string graph_share(const DataPlan& plan, const Dataset& dataset);

}  // namespace salient
