// engine/apps/open_named_dataset.h - what --dataset means: a directory, a name below --data-root, or generated data.
#pragma once

#include <string>

#include "engine/comm/communicator.h"
#include "engine/comm/launch.h"
#include "loaders/dataset.h"

namespace salient {

/// "synthetic:NAME[:scale]" is generated in memory; a path, or a folder that exists, is opened; anything else is a
/// name below `data_root`.
///
/// @throws as open_dataset(); Error{kUsage} for an unknown synthetic name.
Dataset open_named_dataset(const std::string& dataset, const std::string& data_root);

/// The same on every rank. Generated data stands in memory once per host: its first rank makes it, the others map it.
/// Collective. @throws RankError on all ranks when it fails on one.
Dataset open_named_dataset(const std::string& dataset, const std::string& data_root, Communicator& comm,
                           const Launch& launch);

}  // namespace salient
