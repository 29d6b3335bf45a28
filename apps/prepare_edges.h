// apps/prepare_edges.h - what salient-prepare edges is asked for.
#pragma once

#include "apps/prepare_options.h"
#include "prepare/importers/edges_importer.h"

namespace salient::prepare {

/// @throws Error{kUsage} for options that exclude each other; as open_dataset() for --features-as
EdgesOptions edges_options(const EdgesArguments& given);

}  // namespace salient::prepare
