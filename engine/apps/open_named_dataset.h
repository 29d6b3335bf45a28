// engine/apps/open_named_dataset.h - what --dataset means: a directory, a name below --data-root, or generated data.
#pragma once

#include <string>

#include "loaders/dataset.h"

namespace salient {

/// "synthetic:NAME[:scale]" is generated in memory; a path, or a folder that exists, is opened; anything else is a
/// name below `data_root`.
///
/// @throws as open_dataset(); Error{kUsage} for an unknown synthetic name.
Dataset open_named_dataset(const std::string& dataset, const std::string& data_root);

}  // namespace salient
