// models/resident/all_neighbors.h - means over all neighbours of a block of nodes, from a table of all nodes' rows.
//
// A gather is two launches: one of the rows with few entries, which notes the others, and one of these, which may run
// beside other work, as it ends with a few busy blocks.
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
  std::int32_t* long_rows;   ///< [count of a block] scratch: rows with more entries than a warp should add up alone
  std::int32_t* counters;    ///< [2] scratch: runs of rows that warps have taken, long rows
  std::int32_t* beyond_f16;  ///< [1] becomes 1 where a value is not a number or, stored as f16, would not be finite
};

struct NeighborGather {
  DeviceCsr graph;
  NodeBlock block;
  FeatureRows table;
  NeighborNotes notes;
  int multiprocessors = 0;  ///< that short rows take; 0 = all
};

enum class RowLength : std::uint8_t { kShort, kLong };

/// The operand of a layer for a block: mean over its neighbours | own row, both padded with zeros to a multiple of 8
/// columns. Sums are f32; an entry's place in a sum depends on the graph alone.
///
/// @param rows  kLong comes behind kShort
/// @param out   [count, 2 * padded(table.width)] f16
/// Cost:        reads the row of every node and of every entry once, in random order.
void all_neighbors_operand(const NeighborGather& gather, RowLength rows, void* out, cudaStream_t stream);

/// Parts of sums that are there already: f16 rows as wide as the table's.
struct OwnParts {
  const std::byte* rows;
  bool is_of_nodes;  ///< row v is node v's; else row i is that of the block's node i
};

/// sums[i] = own part + mean over the neighbours of node i.
///
/// @param gather  with a table of f16, of a width that is a multiple of 8
/// @param sums    [count, table.width] f32
void sum_with_neighbors(const NeighborGather& gather, RowLength rows, OwnParts own, float* sums, cudaStream_t stream);

}  // namespace salient
