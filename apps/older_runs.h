// apps/older_runs.h - runs of earlier versions: what options that they did not have yet meant in them.
#pragma once

#include <string>
#include <vector>

#include "apps/options/options.h"
#include "models/describe/model_options.h"

namespace salient {

/// @param configuration  a run's config.toml, which names every option that there was when the run was begun
/// @return the same, and for later options of its model the values that do what was done before they came
std::vector<options::Assignment> with_older_values(std::vector<options::Assignment> configuration);

/// One line for the log on a run whose model is of the older kind; empty for others.
std::string older_kind_line(const ModelOptions& model);

}  // namespace salient
