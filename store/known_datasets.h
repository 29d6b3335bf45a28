// store/known_datasets.h - the data sets whose names people type, and how to get each of them.
#pragma once

#include <filesystem>
#include <string>

namespace salient {

/// For a data set that is not there: the exact commands that fetch and prepare it, with sizes, when the folder has a
/// well-known name such as ogbn-arxiv; else a general hint. One line, to be put behind "... is missing; ".
std::string how_to_get(const std::filesystem::path& directory);

}  // namespace salient
