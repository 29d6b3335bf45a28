// engine/infer/value_sums.cpp - see value_sums.h.
#include "engine/infer/value_sums.h"

#include <cmath>

namespace salient {

void add_value_figures(std::span<const ValueSums> targets, Figures& figures) {
  double rmse = 0, mae = 0, r2 = 0, count = 0;
  for (const ValueSums& sums : targets) {
    if (sums.count == 0) continue;
    const double deviations = sums.squares - sums.values * sums.values / sums.count;
    rmse += std::sqrt(sums.squared_errors / sums.count);
    mae += sums.absolute_errors / sums.count;
    r2 += deviations > 0 ? 1 - sums.squared_errors / deviations : sums.squared_errors > 0 ? 0 : 1;
    ++count;
  }
  if (count == 0) return;
  figures[Metric::kRmse] = rmse / count;
  figures[Metric::kMae] = mae / count;
  figures[Metric::kR2] = r2 / count;
}

}  // namespace salient
