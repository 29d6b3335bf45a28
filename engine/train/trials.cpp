// engine/train/trials.cpp - see trials.h.
#include "engine/train/trials.h"

#include <cmath>
#include <numeric>

#include "core/number_text.h"

namespace salient {

TrialSpread spread_of_trials(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, values.size() < 2 ? 0 : std::sqrt(squares / (count - 1))};
}

std::string to_text(const TrialSpread& spread, std::size_t num_trials) {
  return printed("%.4f +- %.4f (%zu trials)", spread.mean, spread.deviation, num_trials);
}

TrainOptions trial_options(const TrainOptions& options, const std::filesystem::path& directory, int index,
                           bool is_resumed) {
  TrainOptions trial = options;
  trial.seed += static_cast<std::uint32_t>(index);
  trial.trials = 1;
  trial.output.directory = (directory / ("trial-" + std::to_string(index + 1))).string();
  trial.output.resume = is_resumed ? trial.output.directory : "";
  return trial;
}

}  // namespace salient
