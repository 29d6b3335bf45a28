// engine/paths/path_graph.h - the training links of a knowledge graph and their reverses, by the node that they end at.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/types.h"
#include "store/link_table.h"

namespace salient {

/// Where a message comes from, and by which relation.
struct PathEntry {
  NodeId node = 0;
  std::uint32_t relation = 0;

  bool operator==(const PathEntry&) const = default;
};

/// Row v has a message's source for each link that ends at v, and for each that begins there, by the reverse relation;
/// in the order of the links. So an entry (u, r) of row v is also a message from v to u, by the reverse of r.
struct PathGraph {
  std::vector<std::size_t> begin{0};        ///< [nodes + 1] into entries
  std::vector<PathEntry> entries{};         ///< two of each link
  std::vector<std::uint32_t> link_of{};     ///< [entries]
  std::vector<std::uint32_t> reverse_of{};  ///< [relations] of each, reverses included, the other direction's number

  std::size_t num_nodes() const { return begin.size() - 1; }
  std::span<const PathEntry> row(std::size_t v) const {
    return std::span(entries).subspan(begin[v], begin[v + 1] - begin[v]);
  }
};

/// @param reverses  as reverses_of()    @throws Error{kUsage} where a relation has no reverse
/// Memory: 12 bytes an entry. Cost: two passes over the links
PathGraph make_path_graph(const LinkTable& links, std::size_t num_nodes,
                          std::span<const std::optional<std::uint32_t>> reverses);

/// The same without the entries of some links. Cost: a pass over all entries
PathGraph without_links(const PathGraph& graph, std::span<const NodeId> links);

}  // namespace salient
