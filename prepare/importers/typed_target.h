// prepare/importers/typed_target.h - labels and split of the one node type of a typed graph that has them.
#pragma once

#include "prepare/importers/node_index.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/typed_options.h"
#include "store/graph_schema.h"

namespace salient {

/// Sets labels, classes, train, valid and test of `graph`, whose nodes are those of the type; ids count from 0 in it.
/// @throws as import_typed()
void read_target(const TypedOptions& options, const NodeType& type, const NodeIndex& nodes, RawGraph& graph);

}  // namespace salient
