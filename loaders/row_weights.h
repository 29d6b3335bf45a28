// loaders/row_weights.h - what the rows of a graph weigh.
#pragma once

#include <vector>

#include "core/csr_graph.h"

namespace salient {

/// [V] the sum of the weights of each row's entries, in f64, rounded once. Cost: one pass over the weights.
/// Threads: runs on the caller's oneTBB arena.
std::vector<float> row_weights_of(const CsrGraph& graph);

}  // namespace salient
