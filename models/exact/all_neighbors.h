// models/exact/all_neighbors.h - means over all neighbours of a block of nodes, from a table of all nodes' rows.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/operands.h"
#include "sampler/device_csr.h"

namespace salient {

constexpr int kLongRow = 512;  ///< rows with more entries may be added up in pieces

/// Nodes first, first + 1, ... or those of a list. Device memory.
struct NodeBlock {
  const NodeId* nodes;  ///< [count], or null
  NodeId first;
  std::int64_t count;
};

/// A part of a row with so many entries that several warps add them up: piece `number` of the block's row `row`.
struct RowPiece {
  std::int32_t row, number;
};

struct GatherCounts {
  unsigned long long long_entries;  ///< of rows with more than kLongRow entries
  std::int32_t num_pieces, taken;   ///< of the pieces, and of the runs of rows behind them, those that warps took
};

/// What the kernels write beside their results, one gather at a time. Device memory.
struct GatherScratch {
  GatherCounts* counts;      ///< [1]
  RowPiece* pieces;          ///< [max_pieces] those of a row beside each other
  std::int32_t* num_added;   ///< [max_pieces] zero before and after: of a row, at its first piece's place
  float* sums;               ///< [max_pieces, padded width of the table] of the pieces' entries
  std::int32_t* beyond_f16;  ///< [1] becomes 1 where a value is not a number or, stored as f16, would not be finite
  int max_pieces;            ///< at least 2: with few, pieces are long
};

struct NeighborGather {
  DeviceCsr graph;
  NodeBlock block;
  FeatureRows table;
  GatherScratch scratch;
  int multiprocessors = 0;  ///< that it takes; 0 = all
};

/// Enqueues the lists of the block's long rows, for one gather of it.
void list_pieces(const DeviceCsr& graph, const NodeBlock& block, const GatherScratch& scratch, cudaStream_t stream);

/// The operand of a layer for a block: mean over its neighbours | own row, both padded with zeros to a multiple of 8
/// columns. Sums are f32; an entry's place in a sum depends on the graph and the nodes of the block alone.
///
/// @param out  [count, 2 * padded(table.width)] f16
/// Cost:       reads the row of every node and of every entry once, in random order.
void all_neighbors_operand(const NeighborGather& gather, void* out, cudaStream_t stream);

/// The means alone. Own rows are not read.
///
/// @param gather  with a table of f16, of a width that is a multiple of 8
/// @param out     [count, table.width] f16
void all_neighbors_means(const NeighborGather& gather, void* out, cudaStream_t stream);

/// Parts of sums that are there already: f16 rows as wide as the table's.
struct OwnParts {
  const std::byte* rows;
  bool is_of_nodes;  ///< row v is node v's; else row i is that of the block's node i
};

/// sums[i] = own part + mean over the neighbours of node i.
///
/// @param gather  with a table of f16, of a width that is a multiple of 8
/// @param sums    [count, table.width] f32
void sum_with_neighbors(const NeighborGather& gather, OwnParts own, float* sums, cudaStream_t stream);

}  // namespace salient
