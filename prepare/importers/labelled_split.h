// prepare/importers/labelled_split.h - the seeded split of the nodes whose labels are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Adds a problem of `field` unless `fractions` is empty or three fractions.
void check_split(std::vector<FieldProblem>& found, const std::vector<double>& fractions, const char* field = "split");

/// Sets train, valid and test to the split() of the labelled nodes; when all are labelled, of all.
///
/// @param fractions  three that check_split() lets pass
void draw_labelled_split(RawGraph& graph, const std::vector<double>& fractions, std::uint32_t rng_seed);

/// Sets them to the earliest labelled nodes, the next, and the latest: the part_ends() of those in the order of (time,
/// node). Nodes of one time are in one part, that of the first of them.
///
/// @param graph      has node_times
/// @param fractions  likewise
void split_labelled_by_time(RawGraph& graph, const std::vector<double>& fractions);

}  // namespace salient
