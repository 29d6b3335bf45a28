// workbench/app/questions.h - what a verb has to know beyond its options: asked on standard error, read from standard
// input.
#pragma once

#include <string>

namespace salient::workbench {

/// The option's text, or a line that a person writes; an empty line is the default.
/// @throws Error{kUsage} naming the option where nothing comes and there is no default
std::string said_or_asked(const std::string& said, const std::string& option, const std::string& question,
                          const std::string& otherwise = {});

}  // namespace salient::workbench
