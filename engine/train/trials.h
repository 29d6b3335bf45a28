// engine/train/trials.h - the same run with several seeds, and what its results are together.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "engine/train/train_options.h"

namespace salient {

/// Of one figure over the trials. salient-bench has a Spread of its own, of rates.
struct TrialSpread {
  double mean = 0;
  double deviation = 0;  ///< of the sample (divided by n - 1), as torch.std; 0 for one value
};
TrialSpread spread_of_trials(std::span<const double> values);

/// "0.9243 +- 0.0024 (3 trials)"
std::string to_text(const TrialSpread& spread, std::size_t num_trials);

/// Options of trial `index`, from 0: the seed plus `index`; a run directory of its own, DIRECTORY/trial-1 for the
/// first.
/// @param is_resumed  go on from the checkpoint that is there
TrainOptions trial_options(const TrainOptions& options, const std::filesystem::path& directory, int index,
                           bool is_resumed);

}  // namespace salient
