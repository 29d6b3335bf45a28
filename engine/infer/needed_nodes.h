// engine/infer/needed_nodes.h - the nodes whose activations exact inference needs after each layer, and their order.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/types.h"

namespace salient {

inline constexpr NodeId kNoRow = 0xFFFFFFFF;

/// One order for all layers: the nodes needed after a layer are a prefix of the nodes needed before it, with the
/// targets first. So a layer's own nodes are the first rows of its input, as in a message-flow graph.
struct NeededNodes {
  std::vector<NodeId> nodes{};           ///< targets in their order, then by distance, ascending among equals
  std::vector<std::size_t> num_after{};  ///< [L] after layer i nodes[0, num_after[i]) are needed; the last: targets
  std::vector<NodeId> row_of{};          ///< [V] index in `nodes`, or kNoRow; empty if nodes[v] is v for all v

  /// [L] rows of the result of each layer
  std::span<const NodeId> after(std::size_t layer) const { return std::span(nodes).first(num_after[layer]); }
};

/// @param targets  distinct, each in [0, V)
/// Cost: one pass over the rows of every node that is needed after the first layer, one thread; 8 bytes per needed node
///       and 4 per node of the graph.
NeededNodes find_needed_nodes(const CsrGraph& graph, std::span<const NodeId> targets, int num_layers);

}  // namespace salient
