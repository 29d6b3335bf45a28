// store/column_spread.cpp - see column_spread.h.
#include "store/column_spread.h"

#include <algorithm>
#include <cmath>

#include "store/feature_value.h"

namespace salient {

std::vector<double> column_deviations(const Dataset& dataset, std::size_t max_rows) {
  const RowTable& rows = dataset.features;
  if (dataset.has_sparse_features() || rows.data == nullptr || rows.num_rows == 0 || max_rows == 0) return {};
  const auto dim = static_cast<std::size_t>(dataset.feature_dim);
  const std::size_t step = (rows.num_rows + max_rows - 1) / max_rows;
  std::vector<double> mean(dim), squares(dim);  // Welford's sums
  double count = 0;
  for (std::size_t v = 0; v < rows.num_rows; v += step) {
    ++count;
    for (std::size_t c = 0; c < dim; ++c) {
      const double value = feature_value(rows.data + v * rows.row_bytes, c, dataset.feature_type, rows.fp8_scale);
      const double apart = value - mean[c];
      mean[c] += apart / count;
      squares[c] += apart * (value - mean[c]);
    }
  }
  for (double& square : squares) square = std::sqrt(std::max(0.0, square / count));
  return squares;
}

}  // namespace salient
