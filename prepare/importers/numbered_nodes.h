// prepare/importers/numbered_nodes.h - the nodes of ids that are numbers, in the user's files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/node_index.h"

namespace salient {

/// @throws Error{kBadData} for the first id that is of no node, followed by `rule`
void require_ids(const NodeIndex& index, const std::vector<std::uint64_t>& ids, const std::filesystem::path& path,
                 const std::string& rule);

/// The node of each id. @throws Error{kBadData} for an id of no node; Error{kHostMemory}
std::vector<NodeId> nodes_of(const NodeIndex& index, const std::vector<std::uint64_t>& ids,
                             const std::filesystem::path& path, const MemoryLimit& memory);

/// The same of a table with a line a node. @throws also Error{kBadData} for a node with two lines
std::vector<NodeId> distinct_nodes_of(const NodeIndex& index, const std::vector<std::uint64_t>& ids,
                                      const std::filesystem::path& path, const MemoryLimit& memory);

/// Whether a text is one of the numbers.
std::function<bool(std::string_view)> one_of(std::vector<std::uint64_t> ids);

}  // namespace salient
