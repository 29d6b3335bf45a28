// loaders/prepare/ogb_tables.h - the two layouts of OGB's raw files; each fills the same parts of a RawGraph.
#pragma once

#include "loaders/prepare/ogb_layout.h"
#include "loaders/prepare/raw_graph.h"

namespace salient {

/// Fill num_nodes, sources, destinations, features.dim and .rows, and labels. features.type is set.
/// @throws as import_ogb()
void read_ogb_csv(const OgbLayout& layout, int num_threads, RawGraph& graph);
void read_ogb_binary(const OgbLayout& layout, RawGraph& graph);

/// The label that a number stands for: NaN is -1, unlabelled; false for fractions, negative and huge ones.
bool ogb_label_of(double value, std::int32_t& label);

/// Node counts that a store can hold: 1 to 2^32 - 2.
bool is_node_count(std::uint64_t count);

}  // namespace salient
