// prepare/importers/labelled_split.h - the seeded split of the nodes whose labels are known.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/field_problem.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Adds a problem of the field "split" unless `fractions` is empty or three fractions.
void check_split(std::vector<FieldProblem>& found, const std::vector<double>& fractions);

/// Sets train, valid and test to the split() of the labelled nodes; when all are labelled, of all.
///
/// @param fractions  three that check_split() lets pass
void draw_labelled_split(RawGraph& graph, const std::vector<double>& fractions, std::uint32_t rng_seed);

}  // namespace salient
