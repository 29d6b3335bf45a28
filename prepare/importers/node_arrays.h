// prepare/importers/node_arrays.h - what a user's .npy files say about nodes: features, labels, splits.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/npy.h"
#include "core/types.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Any dtype, byte order and axis order comes in; all throw Error{kNoInput}, Error{kIo}, or Error{kBadData} naming file
/// and item.

/// The columns of [V, width], one of [V].
std::size_t width_of_features(const NpyFile& file);

/// [V, width] or [V], which counts as [V, 1]. Values are finite and fit `type`.
RawFeatures read_features(const std::filesystem::path& path, FeatureType type, const MemoryLimit& memory = {});

/// Sets task, num_classes, and labels or multi_labels.
///
///   [V], [V, 1]    classes: whole numbers of at least -1; NaN = -1 = unlabelled
///   [V, T], T > 1  several labels: 1 = has it, 0 = has not; NaN = -1 = not known
void read_labels(const std::filesystem::path& path, RawGraph& graph, const MemoryLimit& memory = {});

/// Of read_targets(): every column.
inline constexpr char kAllTargets[] = "all";

/// Of an array of `width` columns. @param columns  numbers from 0, or kAllTargets
/// @throws Error{kBadData} naming `file`, for columns that are not there
std::vector<std::size_t> target_columns(const std::string& file, const std::vector<std::string>& columns,
                                        std::size_t width);

/// Sets task, num_classes and targets: the values of [V] or [V, T], NaN = not known.
/// @param columns  numbers from 0, or kAllTargets   @throws also Error{kBadData} for columns that are not there
void read_targets(const std::filesystem::path& path, const std::vector<std::string>& columns, RawGraph& graph,
                  const MemoryLimit& memory = {});

/// Ids [n], or bool masks [V], [K, V] or [V, K], of which number `mask` gives ascending ids; K = V is read as [K, V].
/// V > 2 numbers, all of them 0 or 1, are a mask, too.
/// @throws also Error{kUsage} for `mask`
std::vector<NodeId> read_split(const std::filesystem::path& path, std::uint64_t num_nodes, int mask = 0);

}  // namespace salient
