// core/adam_row.h - Adam over rows of a table, of which a step may touch some; on the host.
#pragma once

#include <cmath>
#include <cstdint>

namespace salient {

/// What a step does to every row. torch.optim.Adam's formula, betas 0.9 and 0.999, eps 1e-8.
struct AdamRowRates {
  float step_size = 0, scale = 0;  ///< with the corrections of the moments' bias
  float weight_decay = 0;          ///< added to gradients, times the row

  static constexpr float kBeta1 = 0.9F, kBeta2 = 0.999F, kEpsilon = 1e-8F;

  /// @param steps  done, with this one
  static AdamRowRates of_step(double steps, double lr, float weight_decay) {
    return {.step_size = static_cast<float>(lr / (1 - std::pow(double{kBeta1}, steps))),
            .scale = static_cast<float>(1 / std::sqrt(1 - std::pow(double{kBeta2}, steps))),
            .weight_decay = weight_decay};
  }
};

/// One row. @param x, first, second  [width] the row and its moments, which change
inline void adam_row(const AdamRowRates& rates, float* x, float* first, float* second, const float* gradients,
                     std::int64_t width) {
  for (std::int64_t k = 0; k < width; ++k) {
    const float gradient = gradients[k] + rates.weight_decay * x[k];
    first[k] += (1 - AdamRowRates::kBeta1) * (gradient - first[k]);
    second[k] = AdamRowRates::kBeta2 * second[k] + (1 - AdamRowRates::kBeta2) * gradient * gradient;
    x[k] -= rates.step_size * first[k] / (std::sqrt(second[k]) * rates.scale + AdamRowRates::kEpsilon);
  }
}

}  // namespace salient
