// engine/infer/value_sums.h - what predictions of values come to: sums of errors by target, and the figures of them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/report/metric.h"

namespace salient {

/// Of one target, over the nodes whose value is known.
struct ValueSums {
  double count = 0;
  double values = 0;   ///< of the known values, from `shift` on
  double squares = 0;  ///< of the same
  double squared_errors = 0, absolute_errors = 0;

  /// @param shift  about the mean of known values, the same for all: the variance is a small difference otherwise
  void add(float known, float predicted, double shift) {
    const double value = double{known} - shift, error = double{predicted} - double{known};
    count += 1;
    values += value;
    squares += value * value;
    squared_errors += error * error;
    absolute_errors += error < 0 ? -error : error;
  }
  bool operator==(const ValueSums&) const = default;
};

/// Adds RMSE, MAE and R2: their means over the targets that have a known value, none without one.
///
///   R2   1 - squared errors / squared deviations from the mean; of equal values 1 without an error, else 0
///
/// Oracle: root_mean_squared_error, mean_absolute_error and r2_score of scikit-learn, which average over targets, too
void add_value_figures(std::span<const ValueSums> targets, Figures& figures);

}  // namespace salient
