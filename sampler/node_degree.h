// sampler/node_degree.h - what a sampled hop does not show of its nodes: their rows in the whole graph.
#pragma once

#include <span>

#include "core/csr_graph.h"
#include "core/types.h"

namespace salient {

/// A row of the whole graph in numbers; two neighbouring int32, as tensors have them.
struct NodeDegree {
  LocalId entries = 0;     ///< from 2^31 on: 2^31 - 1
  LocalId self_loops = 0;  ///< entries that are the node itself
  bool operator==(const NodeDegree&) const = default;
};

/// degrees[i] = the row of nodes[i].
///
/// @param graph    rows ascend, or entries have times; then all of a row is read
/// @param degrees  [nodes.size()] host
/// Cost:    a search in each row; bound by random reads, two or more per node.
/// Oracle:  counting the entries of a row.
void read_degrees(CsrGraph graph, std::span<const NodeId> nodes, NodeDegree* degrees);

}  // namespace salient
