// engine/paths/path_trainer.h - trains a path-based model of a knowledge graph's links.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "engine/links/link_trainer.h"
#include "engine/paths/path_options.h"

namespace salient {

/// Rules that options break; of `link` those of epochs. Reads nothing.
std::vector<FieldProblem> problems(const LinkOptions& link, const PathOptions& paths);

LinkIdentity identity_of(const Dataset& dataset, const LinkOptions& link, const PathOptions& paths);

/// As train_links(), which says what is left in `directory`.
/// @throws as train_links(); Error{kUsage} for a data set without reverses, which paths follow
LinkResult train_paths(const Dataset& dataset, const LinkOptions& link, const PathOptions& paths,
                       const std::filesystem::path& directory, const std::function<void()>& after_epoch = {});

}  // namespace salient
