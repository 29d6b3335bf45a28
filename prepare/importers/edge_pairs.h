// prepare/importers/edge_pairs.h - the edges of an edge_index [2, E] as pairs, in a few MB of memory.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "core/types.h"
#include "prepare/formats/zip_archive.h"

namespace salient {

/// Calls use(sources, destinations) for blocks of edges, in the file's order, on one thread at a time, and
/// on_items(count) for every number that was inflated: 3 E of them, see num_edge_items().
///
/// In C order all sources come before all destinations: two streams of the same member run in parallel, the second
/// forwarded to the destinations. That inflates half of the member twice and needs no space on disk.
/// @throws Error{kBadData} as read_edges(); Error{kIo}; what the callbacks throw.
void for_each_edge_block(const ZipArchive& archive, std::uint64_t num_nodes,
                         const std::function<void(std::uint64_t)>& on_items,
                         const std::function<void(std::span<const NodeId>, std::span<const NodeId>)>& use);

constexpr std::uint64_t num_edge_items(std::uint64_t num_edges) { return 3 * num_edges; }

}  // namespace salient
