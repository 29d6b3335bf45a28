// store/column_spread.h - how far apart the values of each column of features are.
#pragma once

#include <cstddef>
#include <vector>

#include "store/dataset.h"

namespace salient {

/// The standard deviation of each column over at most `max_rows` rows at equal distances: [feature_dim]. Empty of
/// sparse features, and where this host does not have the rows.
/// Cost: reads these rows once, on one core.
std::vector<double> column_deviations(const Dataset& dataset, std::size_t max_rows);

}  // namespace salient
