// engine/infer/needed_nodes.cpp - see needed_nodes.h: breadth-first search from the targets.
#include "engine/infer/needed_nodes.h"

#include <algorithm>

#include "core/error.h"

namespace salient {
namespace {

bool is_identity(std::span<const NodeId> nodes, std::size_t num_nodes) {
  if (nodes.size() != num_nodes) return false;
  for (std::size_t v = 0; v < num_nodes; ++v)
    if (nodes[v] != v) return false;
  return true;
}

}  // namespace

NeededNodes find_needed_nodes(const CsrGraph& graph, std::span<const NodeId> targets, int num_layers) {
  NeededNodes needed;
  needed.nodes.assign(targets.begin(), targets.end());
  needed.num_after.assign(static_cast<std::size_t>(num_layers), targets.size());
  if (is_identity(targets, graph.num_nodes())) return needed;

  std::vector<NodeId>& nodes = needed.nodes;
  needed.row_of.assign(graph.num_nodes(), kNoRow);
  for (std::size_t row = 0; row < nodes.size(); ++row) needed.row_of[nodes[row]] = static_cast<NodeId>(row);
  std::size_t first_new = 0;  // the neighbours of those before it are in `nodes` already
  for (std::size_t layer = needed.num_after.size() - 1; layer > 0; --layer) {
    const std::size_t end = nodes.size();
    for (std::size_t i = first_new; i < end; ++i)
      for (EdgeOffset e = graph.indptr[nodes[i]]; e < graph.indptr[nodes[i] + std::size_t{1}]; ++e) {
        const NodeId neighbour = graph.indices[static_cast<std::size_t>(e)];
        if (needed.row_of[neighbour] != kNoRow) continue;
        needed.row_of[neighbour] = 0;  // seen; its row is known when the others are
        nodes.push_back(neighbour);
      }
    std::sort(nodes.begin() + static_cast<std::ptrdiff_t>(end), nodes.end());
    for (std::size_t row = end; row < nodes.size(); ++row) needed.row_of[nodes[row]] = static_cast<NodeId>(row);
    needed.num_after[layer - 1] = nodes.size();
    first_new = end;
  }
  return needed;
}

}  // namespace salient
