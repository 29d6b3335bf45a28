// loaders/prepare/ogb_tables.h - the two layouts of OGB's raw files; each fills the same parts of a RawGraph.
#pragma once

#include "loaders/prepare/ogb_layout.h"
#include "loaders/prepare/raw_graph.h"

namespace salient {

/// Fill num_nodes, sources, destinations, features.dim and .rows, and labels. features.type is set.
/// @throws as import_ogb()
void read_ogb_csv(const OgbLayout& layout, int num_threads, RawGraph& graph);
void read_ogb_binary(const OgbLayout& layout, RawGraph& graph);

}  // namespace salient
