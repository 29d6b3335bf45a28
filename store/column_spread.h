// store/column_spread.h - how far apart the values of each column of features are.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "store/dataset.h"
#include "store/row_table.h"

namespace salient {

/// The standard deviation of each column over at most `max_rows` rows at equal distances: [feature_dim]. Empty of
/// sparse features, and where this host does not have the rows.
/// Cost: reads these rows once, on one core.
std::vector<double> column_deviations(const Dataset& dataset, std::size_t max_rows);

/// The same of dense rows. @param dim  values of a row
std::vector<double> column_deviations(const RowTable& rows, FeatureType type, int dim, std::size_t max_rows);

/// "feature 'income' varies by 2e+04, most others by 12: the model will see little else", if one varies a hundred times
/// as much as most, and by 10 or more; or "most features vary by 300 or more: ..."; else "".
/// @param names  [columns], or empty: they have none
std::string wide_column_text(std::vector<double> deviations, const std::vector<std::string>& names);

}  // namespace salient
