// engine/paths/relational_sum.h - sums of messages: neighbours' rows, each times the row of its relation.
//
// By hand: libraries hold a row for each entry, or multiply by one matrix a relation.
#pragma once

#include <cstdint>

#include "engine/paths/path_graph.h"

namespace salient {

/// out[v] = the sum of x[u] * relations[r], number by number, over the entries (u, r) of row v, in their order.
/// Host memory; one thread. Cost: 2 width operations an entry.
/// @param width      a multiple of 8
/// @param x          [nodes, width]    @param relations  [relations, width]
/// @param out        [nodes, width], set
void relational_sum(const PathGraph& graph, std::int64_t width, const float* x, const float* relations, float* out);

/// What moves through relational_sum() backwards.
struct RelationalGradients {
  const float* of_sums;  ///< [nodes, width]
  float* of_x;           ///< [nodes, width], added to
  float* of_relations;   ///< [relations, width], added to
};

/// Its gradients, by the same rows: an entry (u, r) of row v says that v's message reaches u by the reverse of r.
void relational_sum_backward(const PathGraph& graph, std::int64_t width, const float* x, const float* relations,
                             const RelationalGradients& gradients);

}  // namespace salient
