// prepare/importers/edge_split.h - the seeded split of a graph's edges: links to train on, to validate and to test.
#pragma once

#include <vector>

#include "prepare/importers/raw_graph.h"

namespace salient {

/// Sets graph.links, and keeps as edges, which become the entries of the store, those of training links alone.
///
/// A pair of nodes is in one split, with both its directions and all its repeats. A link is a distinct edge; where
/// reverses are added, a distinct pair, in the direction that the source has first. Links are in the order of the
/// source. Self loops are no links and are left out, as are edges where the fractions leave a part; both are logged.
///
/// @param fractions  three that check_split() lets pass: of the pairs
/// @throws Error{kBadData} for a graph without pairs, or of which the training gets none; Error{kUsage} for one whose
///         nodes have labels other than classes
/// Determinism: a function of the graph, its rng_seed among it.    Cost: one sort; 16 bytes for each edge beside it.
void split_edges(RawGraph& graph, const std::vector<double>& fractions);

}  // namespace salient
