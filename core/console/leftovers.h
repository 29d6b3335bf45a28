// core/console/leftovers.h - names what interrupted runs left.
#pragma once

#include <filesystem>

namespace salient {

/// One warning for each of leftovers_of(out). Call it before a StagedDirectory is made: its folder would be named, too.
void warn_of_leftovers(const std::filesystem::path& out);

}  // namespace salient
