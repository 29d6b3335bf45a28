// models/resident/edge_means.h - means of the features of edges over a tree: columns of a layer's operand.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/operands.h"

namespace salient {

/// Columns of a matrix.
struct MatrixColumns {
  void* data;          ///< [capacity, width] device: the matrix
  std::int64_t width;  ///< a multiple of 8
  std::int64_t first;  ///< likewise: the first column that is written
  ActivationType type;
};

/// Row i of the columns [first, first + padded(table.width)): the mean of the table's rows of node i's entries, 0 of a
/// node without, and zeros behind the table's width. Terms are added in the samplers' order, in f32.
///
/// @param table   [entries of the graph, width] device, in the graph's order; f16 or f32. Its `near` is not looked at
/// Cost: a random read of each entry's place and row.
void edge_means(const PlacedEntries& entries, const FeatureRows& table, RowsBehind behind, const MatrixColumns& out,
                cudaStream_t stream);

}  // namespace salient
