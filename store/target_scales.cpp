// store/target_scales.cpp - see target_scales.h.
#include "store/target_scales.h"

#include <cmath>

namespace salient {

TargetScales target_scales_of(const Dataset& dataset) {
  if (dataset.task != Task::kRegression) return {};
  const auto width = static_cast<std::size_t>(dataset.num_classes);
  TargetScales scales(2 * width, 0);
  for (std::size_t t = 0; t < width; ++t) {
    double count = 0, sum = 0, squares = 0;
    const auto for_each = [&](auto use) {
      for (const NodeId node : dataset.train)
        if (const double value = dataset.targets[(node - dataset.first_target()) * width + t]; !std::isnan(value))
          use(value);
    };
    for_each([&](double value) { sum += value, ++count; });
    const double mean = count > 0 ? sum / count : 0;
    for_each([&](double value) { squares += (value - mean) * (value - mean); });
    scales[t] = mean;
    scales[width + t] = squares > 0 ? std::sqrt(squares / count) : 1;
  }
  return scales;
}

std::vector<float> scaled_targets(const Dataset& dataset) {
  const auto width = static_cast<std::size_t>(dataset.num_classes);
  std::vector<float> scaled(dataset.targets.begin(), dataset.targets.end());
  for (std::size_t i = 0; i < scaled.size(); ++i)
    scaled[i] = static_cast<float>((double{scaled[i]} - dataset.target_scales[i % width]) /
                                   dataset.target_scales[width + i % width]);
  return scaled;
}

}  // namespace salient
