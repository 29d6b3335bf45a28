// sampler/node_degree.cpp - see node_degree.h.
#include "sampler/node_degree.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace salient {
namespace {

constexpr std::size_t kBoundsAhead = 32, kRowsAhead = 16;  // prefetch distances

/// clang 14 takes no subrange of std::ranges.
std::size_t times_in_ascending(std::span<const NodeId> row, NodeId node) {
  const auto [begin, end] = std::equal_range(row.begin(), row.end(), node);
  return static_cast<std::size_t>(end - begin);
}

NodeDegree degree_of(CsrGraph graph, NodeId node) {
  const std::span<const NodeId> row = graph.row(node);
  const auto num_loops = graph.entries.times.empty() ? times_in_ascending(row, node)
                                                     : static_cast<std::size_t>(std::ranges::count(row, node));
  constexpr std::size_t kMost = std::numeric_limits<LocalId>::max();
  return {static_cast<LocalId>(std::min(row.size(), kMost)), static_cast<LocalId>(std::min(num_loops, kMost))};
}

}  // namespace

void read_degrees(CsrGraph graph, std::span<const NodeId> nodes, NodeDegree* degrees) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (i + kBoundsAhead < nodes.size()) __builtin_prefetch(&graph.indptr[nodes[i + kBoundsAhead]]);
    if (i + kRowsAhead < nodes.size()) {  // where the search begins
      const NodeId node = nodes[i + kRowsAhead];
      __builtin_prefetch(graph.indices.data() + graph.indptr[node] + graph.degree(node) / 2);
    }
    degrees[i] = degree_of(graph, nodes[i]);
  }
}

}  // namespace salient
