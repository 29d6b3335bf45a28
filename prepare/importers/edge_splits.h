// prepare/importers/edge_splits.h - the splits of a graph of edges: of its nodes, and of its links.
#pragma once

#include "prepare/importers/edge_split.h"
#include "prepare/importers/edges_options.h"
#include "prepare/importers/node_index.h"
#include "prepare/importers/node_table.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Whether nodes are split by fractions.
bool makes_split(const EdgesOptions& options);

/// Sets the links and negatives that the options ask for, and training, validation and test nodes.
/// @param table  how lists of ids are read    @param given  links that have files of their own; are taken
/// @throws Error{kBadData} naming file and record
void set_splits(const EdgesOptions& options, const NodeTableOptions& table, const NodeIndex& index, RawGraph& graph,
                GivenLinks& given);

}  // namespace salient
