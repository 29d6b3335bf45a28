// prepare/importers/timed_links.h - links that are asked for at their times: a split by time, or splits that are given.
#pragma once

#include <vector>

#include "prepare/importers/edge_split.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Sets graph.links and link_times: of the edges in the order of (time, place in the source) the earliest are links for
/// training, the next for validation, the latest the test. Edges of one time are in one part, that of the first.
/// Every edge is a link of its own, whatever pair it joins. Edges, which become the entries of the store, are the links
/// of all three: the rule of times decides what each sees. Self loops are no links and are left out, as are edges where
/// the fractions leave a part; both are logged.
///
/// @param graph      with times of edges    @param fractions  three that check_split() lets pass: of the links
/// @throws Error{kBadData} for a graph without links, or of which the training gets none; Error{kUsage} for one whose
///         nodes have labels other than classes
/// Cost: one sort; 4 bytes for each edge beside the links
void split_edges_by_time(RawGraph& graph, const std::vector<double>& fractions);

/// The same of splits that are given, each in the order of its file: the edges are those for training, and those of
/// validation and test are added to them.
/// @param given  with times
/// @throws Error{kBadData} for no link to train on, and for one of a later split that is before one of an earlier
void take_timed_links(RawGraph& graph, GivenLinks& given);

}  // namespace salient
