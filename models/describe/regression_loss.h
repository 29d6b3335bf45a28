// models/describe/regression_loss.h - how far a predicted value is from the known one, as training minimises it.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

/// Of the difference d of values in units of the targets' deviation.
enum class RegressionLoss : std::uint8_t {
  kMse,    ///< d^2
  kMae,    ///< |d|
  kHuber,  ///< d^2 / 2 up to 1, |d| - 1/2 beyond: torch's huber_loss with delta 1
};

constexpr auto names_of(RegressionLoss) {
  return std::to_array<EnumName<RegressionLoss>>(
      {{RegressionLoss::kMse, "mse"}, {RegressionLoss::kMae, "mae"}, {RegressionLoss::kHuber, "huber"}});
}

}  // namespace salient
