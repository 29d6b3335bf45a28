// loaders/cached_rows.h - which rows of a batch a cache has, and where the others are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "loaders/node_set.h"

namespace salient {

/// rows[i] is the number of nodes[i] in the cache, or, as the cache's size and a number, its place among `missed`.
/// @param rows    [nodes]
/// @param missed  those that the cache lacks, in their order
inline void find_cached_rows(const NodeSet& cached, std::span<const NodeId> nodes, std::uint32_t* rows,
                             std::vector<NodeId>& missed) {
  constexpr std::size_t kAhead = 32;  // prefetch distance
  const auto num_cached = static_cast<std::uint32_t>(cached.size());
  missed.clear();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i + kAhead < nodes.size()) cached.prefetch(nodes[i + kAhead]);
    rows[i] = cached.index_of(nodes[i]);
    if (rows[i] != NodeSet::kAbsent) continue;
    rows[i] = num_cached + static_cast<std::uint32_t>(missed.size());
    missed.push_back(nodes[i]);
  }
}

}  // namespace salient
