// engine/infer/row_blocks.h - cuts nodes into blocks of bounded work and memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/types.h"

namespace salient {

/// Consecutive nodes whose layer is computed at once.
struct RowBlock {
  std::size_t begin = 0, count = 0;  ///< nodes[begin, begin + count)
};

/// Cuts `nodes` where the rows that a block may read (its nodes and all their entries) would exceed `max_rows`. A node
/// with more entries is a block of its own: a layer needs all neighbours of a node at once.
///
/// Determinism: depends on the arguments alone, not on ranks, so that equal blocks give equal bits.
std::vector<RowBlock> cut_blocks(const CsrGraph& graph, std::span<const NodeId> nodes, std::size_t max_rows);

/// Blocks of `max_rows` nodes, the last one of what is left: where a node takes no row but its own.
std::vector<RowBlock> cut_evenly(std::size_t num_nodes, std::size_t max_rows);

/// The most rows that one of these blocks may read.
std::size_t largest_block(const CsrGraph& graph, std::span<const NodeId> nodes, std::span<const RowBlock> blocks);

}  // namespace salient
