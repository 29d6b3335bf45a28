// apps/missing_dataset.h - the data sets whose names people type, and how to get each of them.
#pragma once

#include <filesystem>
#include <string>

#include "core/error.h"

namespace salient {

/// For a data set that is not there: the exact commands that fetch and prepare it, with sizes, when the folder has a
/// well-known name such as ogbn-arxiv; else a general hint. One line, to be put behind "... is missing; ".
std::string how_to_get(const std::filesystem::path& directory);

/// Runs open(), which opens the data set in `directory`. When that is missing, the error ends with how_to_get().
template <class Open>
auto open_or_advise(const std::filesystem::path& directory, Open open) {
  try {
    return open();
  } catch (const Error& error) {
    if (error.topic() != Topic::kMissingDataset) throw;
    fail(error.kind(), std::string(error.what()) + "; " + how_to_get(directory));
  }
}

}  // namespace salient
