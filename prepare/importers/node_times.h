// prepare/importers/node_times.h - when each node came to be, from an array or a column of a table.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "prepare/importers/node_table.h"

namespace salient {

/// [num_nodes] of an array of whole numbers [num_nodes].
/// @throws Error{kNoInput}; Error{kIo}; Error{kBadData} for another type or shape
std::vector<std::int64_t> read_time_array(const std::filesystem::path& path, std::uint64_t num_nodes);

/// [num_nodes] of the column `options.time_column`, written as the times of edges are.
///
/// @param has_label  the table is one of labels, by which its column of ids is found
/// @param find_node  of an id
/// @throws as read_label_table(); Error{kBadData} for what is no time, and for nodes without a line
std::vector<std::int64_t> read_time_column(const std::filesystem::path& path, const NodeTableOptions& options,
                                           bool has_label, std::uint64_t num_nodes,
                                           const std::function<std::optional<NodeId>(std::string_view id)>& find_node);

}  // namespace salient
