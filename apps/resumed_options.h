// apps/resumed_options.h - what a run does in another way than before, or than by default.
#pragma once

#include <string>
#include <vector>

#include "engine/train/train_options.h"

namespace salient {

/// "lr 0.003 -> 0.001" for each option that differs, but for those that may suit each host and those of the console.
/// @param before, now  as config.toml has them
std::vector<std::string> option_changes(const TrainOptions& before, const TrainOptions& now);

/// The names of the options that are not at their defaults, in the order of their list, but for the run's folder.
std::vector<std::string> changed_options(const TrainOptions& said);

/// What that does to the step size of the next epoch, in one line; "" where it goes on as it would have.
/// @param num_epochs  that are finished
std::string step_size_change(const OptimisationOptions& before, const OptimisationOptions& now, int num_epochs);

}  // namespace salient
