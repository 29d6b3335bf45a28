// engine/plan/repeated_rows.h - whether a resident way, which nothing prevents, is the faster one.
#pragma once

#include <string>

#include "engine/plan/batch_plan.h"
#include "models/compute_bytes.h"

namespace salient {

/// Why eager batches are faster on this data set, as a fact; "" = resident ones are.
///
/// A resident batch is a tree: a node that was sampled twice is read and multiplied twice. In return one graph replaces
/// launch after launch and the way of the sampled nodes over the host. Where the tree is larger than the graph, nodes
/// repeat; where rows are wide as well, that costs more than the graph saves. Depends on the arguments alone.
std::string cost_of_repeated_rows(const ResidentSpec& spec, const Dataset& dataset, Gradients gradients);

}  // namespace salient
