// store/column_spread.cpp - see column_spread.h.
#include "store/column_spread.h"

#include <algorithm>
#include <cmath>

#include "core/number_text.h"
#include "store/feature_value.h"

namespace salient {

std::vector<double> column_deviations(const Dataset& dataset, std::size_t max_rows) {
  if (dataset.has_sparse_features()) return {};
  return column_deviations(dataset.features, dataset.feature_type, dataset.feature_dim, max_rows);
}

std::vector<double> column_deviations(const RowTable& rows, FeatureType type, int width, std::size_t max_rows) {
  if (rows.data == nullptr || rows.num_rows == 0 || max_rows == 0) return {};
  const auto dim = static_cast<std::size_t>(width);
  const std::size_t step = (rows.num_rows + max_rows - 1) / max_rows;
  std::vector<double> mean(dim), squares(dim);  // Welford's sums
  double count = 0;
  for (std::size_t v = 0; v < rows.num_rows; v += step) {
    ++count;
    for (std::size_t c = 0; c < dim; ++c) {
      const double value = feature_value(rows.data + v * rows.row_bytes, c, type, rows.fp8_scale);
      const double apart = value - mean[c];
      mean[c] += apart / count;
      squares[c] += apart * (value - mean[c]);
    }
  }
  for (double& square : squares) square = std::sqrt(std::max(0.0, square / count));
  return squares;
}

std::string wide_column_text(std::vector<double> deviations, const std::vector<std::string>& names) {
  constexpr double kTimesWider = 100, kLeastWide = 10;
  if (deviations.empty()) return "";
  const auto widest = std::ranges::max_element(deviations);
  const auto column = static_cast<std::size_t>(widest - deviations.begin());
  const double most = *widest;
  std::erase(deviations, 0.0);  // constant columns say nothing
  if (deviations.empty() || most < kLeastWide) return "";
  const auto middle = deviations.begin() + (std::ssize(deviations) - 1) / 2;
  std::ranges::nth_element(deviations, middle);
  if (most >= kTimesWider * *middle)
    return "feature " + (names.empty() ? std::to_string(column) : "'" + names[column] + "'") + " varies by " +
           printed("%.3g", most) + ", most others by " + printed("%.3g", *middle) + ": the model will see little else";
  if (*middle >= kTimesWider)
    return "most features vary by " + printed("%.3g", *middle) + " or more: models learn little from such numbers";
  return "";
}

}  // namespace salient
