// prepare/importers/edge_features.h - features of edges: columns of their table, or an array beside them.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "prepare/importers/feature_table.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Scales columns of numbers, as those of a table of nodes are, over the rows; the log says which.
///
/// @param rows   [edges, names.size()] finite
/// @param names  of the columns      @param file  where they come from, for messages
/// @throws Error{kBadData} for a number that the type does not hold; Error{kHostMemory}
RawFeatures edge_features_of(std::vector<double> rows, const std::vector<std::string>& names, FeatureScaling scaling,
                             FeatureType type, const MemoryLimit& memory, const std::string& file);

/// Gives the graph's edges the rows of NAME.npy [edges, width], in their order. Scaled by kStandard alone.
/// @param path  empty: they get none
/// @throws as read_features(); Error{kBadData} for another number of rows
void add_edge_features(const std::filesystem::path& path, FeatureScaling scaling, FeatureType type, RawGraph& graph);

}  // namespace salient
