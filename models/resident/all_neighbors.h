// models/resident/all_neighbors.h - means over all neighbours of a block of nodes, from a table of all nodes' rows.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/operands.h"
#include "sampler/device_hop.h"

namespace salient {

/// Nodes first, first + 1, ... or those of a list. Device memory.
struct NodeBlock {
  const NodeId* nodes;  ///< [count], or null
  NodeId first;
  std::int64_t count;
};

/// What the kernels write beside their results. Device memory.
struct NeighborNotes {
  std::int32_t* long_rows;      ///< [count of a block] scratch: rows with more entries than a warp should add up alone
  std::int32_t* num_long_rows;  ///< [1] scratch
  std::int32_t* beyond_f16;     ///< [1] becomes 1 where a value is not a number or, stored as f16, would not be finite
};

/// The operand of a layer for a block: mean over its neighbours | own row, both padded with zeros to a multiple of 8
/// columns. Sums are f32; an entry's place in a sum depends on the graph alone.
///
/// @param out  [count, 2 * padded(table.width)] f16
/// Cost:       reads the row of every node and of every entry once, in random order.
void all_neighbors_operand(const DeviceCsr& graph, const NodeBlock& block, const FeatureRows& table,
                           const NeighborNotes& notes, void* out, cudaStream_t stream);

/// sums[i] += mean over the neighbours of node i.
///
/// @param table  f16, of a width that is a multiple of 8
/// @param sums   [count, table.width] f32
void add_mean_of_neighbors(const DeviceCsr& graph, const NodeBlock& block, const FeatureRows& table,
                           const NeighborNotes& notes, float* sums, cudaStream_t stream);

}  // namespace salient
