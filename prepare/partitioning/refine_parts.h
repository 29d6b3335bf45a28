// prepare/partitioning/refine_parts.h - one level of a partition: the first one, and a better one.
#pragma once

#include "prepare/partitioning/level_graph.h"
#include "prepare/partitioning/partition.h"

namespace salient {

/// Deals the nodes of a small graph to parts, neighbours one after another, each to the part that most of its entries
/// lead to among those that have room, less willingly the fuller the part is; then refine_parts().
/// Algorithm: linear deterministic greedy (Stanton, Kliot, "Streaming graph partitioning for large distributed graphs",
///            KDD 2012), from several first nodes; the partition that cuts least.
Owners deal_parts(const LevelGraph& graph, int num_parts);

/// Moves nodes to parts that more of their entries lead to, and out of parts that have too much, until none moves.
void refine_parts(const LevelGraph& graph, int num_parts, Owners& owner);

}  // namespace salient
