// apps/recipes.h - options that suit a model or a data set better than the general defaults.
#pragma once

#include <string>
#include <vector>

#include "apps/options/options.h"
#include "models/describe/model_options.h"

namespace salient {

/// The weakest first: what the paper uses for the model, then what suits the data set, then both together.
///
/// @param dataset  its own name, as in dataset.json
std::vector<options::Assignment> recipe_for(const std::string& dataset, ModelKind model);

}  // namespace salient
