// prepare/importers/npz_tables.h - the parts of a graph as arrays of an .npz file: edges, features, labels.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/console/progress.h"
#include "core/files/value_rules.h"
#include "prepare/formats/npz_reader.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Streams the rest of an array in blocks: use(block, position of its first item). A progress bar goes with it.
template <class T, class Use>
void for_each_block(NpzArray& array, const char* label, Use use) {
  Progress progress(label, array.items_left(), "items");
  std::vector<T> block(static_cast<std::size_t>(std::min<std::uint64_t>(array.items_left(), std::uint64_t{1} << 18)));
  std::uint64_t position = 0;
  while (const std::size_t count = block.empty() ? 0 : array.read(std::span(block))) {
    use(std::span<const T>(block.data(), count), position);
    position += count;
    progress.add(count);
  }
}

enum class EdgeLayout {
  kRows,   ///< [2, E]: all sources, then all destinations
  kPairs,  ///< [E, 2]
};

/// By the axis of length 2. @param if_both  the layout of 2 x 2 @throws Error{kBadData} if there is no such axis
EdgeLayout edge_layout_of(const NpzArray& array, EdgeLayout if_both);

/// Adds edges from ids of any type, in C or Fortran order.
/// @throws Error{kBadData} for another shape, for ids of no node, and as convert_to_ids(); as MemoryLimit::check()
void read_edges(NpzArray& array, EdgeLayout layout, RawGraph& graph);

/// The same for two arrays [E].
void read_edges(NpzArray& sources, NpzArray& destinations, RawGraph& graph);

/// The edges of [2, E] whose sources and destinations are of two kinds.
/// @throws as read_edges()
NodePairs read_pairs(NpzArray& array, const std::array<EndNodes, 2>& ends, const MemoryLimit& memory);

/// One whole number from 0, such as a number of nodes. @throws Error{kBadData} for anything else
std::uint64_t read_count(NpzArray& array);

/// The width of a feature matrix. @throws Error{kBadData} unless its shape is [num_nodes, F], or [num_nodes]: F = 1.
int feature_dim_of(const NpzArray& array, std::uint64_t num_nodes);

/// Fills features.dim and .rows from numbers of shape [V, F] or [V], C or Fortran order.
/// @throws Error{kBadData} for another shape, and as append_feature_rows(); as MemoryLimit::check()
void read_features(NpzArray& array, RawGraph& graph);

/// Sets task, num_classes, and labels or multi_labels from numbers of shape [V] or [V, 1], classes, or [V, T], several
/// labels. num_nodes is set.
/// @throws Error{kBadData} for another shape, and for what label_from() or flag_from() refuses
void read_labels(NpzArray& array, RawGraph& graph);

/// Sets task, num_classes and targets from the columns of numbers of shape [V] or [V, T], NaN = not known. num_nodes is
/// set. @param columns  as target_columns()
/// @throws Error{kBadData} for another shape, columns that are not there, and values beyond the range of a float; as
///         MemoryLimit::check()
void read_targets(NpzArray& array, const std::vector<std::string>& columns, RawGraph& graph);

}  // namespace salient
