// apps/environment.h - SALIENT_ variables that no program reads, because their names are misspelt.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace salient {

/// Of all variables of this process.
std::vector<std::string> names_in_environment();

/// One line for each name that is almost, but not quite, that of an option of salient-train, -infer or -serve:
/// "SALIENT_EPOCH is not read; did you mean SALIENT_EPOCHS?"
std::vector<std::string> misspelt_variables(std::span<const std::string> names);

}  // namespace salient
