// prepare/importers/relation_split.h - links of some relations of a typed graph: to train on, validate and test.
#pragma once

#include <string>
#include <vector>

#include "prepare/importers/typed_graph.h"

namespace salient {

/// The numbers of the relations that are to be predicted.
/// @param names  "SRC:NAME:DST" each; none: all but reverses
/// @param rule   is set to what is wrong with a name; else ""
std::vector<int> link_relations(const GraphSchema& schema, const std::vector<std::string>& names, std::string& rule);

/// Sets graph.links of some relations, and keeps as their edges, which become entries with their reverses, those of
/// training links alone. Other relations keep theirs.
///
/// A pair of nodes is in one split, with both its directions and all its repeats, in all of these relations. A link is
/// a distinct edge, in the order of relations and of the source. Self loops are no links and are left out, as are edges
/// where the fractions leave a part; both are logged.
///
/// @param relations  ascending, of link_relations()
/// @param fractions  three that check_split() lets pass: of the pairs
/// @throws Error{kBadData} without pairs, or where the training gets none; Error{kUsage} for labels other than classes
/// Determinism: a function of the graph, its rng_seed among it.    Cost: two sorts; 24 bytes for each edge beside it.
void split_relations(TypedGraph& graph, const std::vector<int>& relations, const std::vector<double>& fractions);

}  // namespace salient
