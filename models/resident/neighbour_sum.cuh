// models/resident/neighbour_sum.cuh - what kernels of neighbour_sum.h share: the choice of one, and a row's writing.
#pragma once

#include <cstdint>

#include "models/products/eight_columns.cuh"
#include "models/resident/neighbour_sum.h"
#include "models/resident/row_factors.cuh"

namespace salient {

/// Whether a sum has dropouts of its own: neighbour_sum() then calls dropped_sum().
inline bool has_dropout(const NeighbourSum& sum) {
  return (sum.input.threshold | sum.neighbours.threshold | sum.self.threshold) != 0;
}
void dropped_sum(const NeighbourSum& sum, const TableRows& rows, cudaStream_t stream);
void dropped_sum(const NeighbourSum& sum, const LevelRows& rows, cudaStream_t stream);

/// One row of a sum: what it consists of, and where it goes.
template <class Out>
struct SumRow {
  const NeighbourSum& sum;
  std::int64_t index;
  bool is_node;  ///< others are zeros
  std::int64_t part_chunks, own_chunks;
  std::int64_t in_width;  ///< of a source's row

  static __device__ std::int64_t own_chunks_of(const NeighbourSum& sum, std::int64_t in_width) {
    return sum.own_rows == nullptr ? 0 : padded(in_width + 1) / 8;
  }
  /// Of NeighbourSum::own_rows, before the sum's own dropout.
  __device__ void store_own(std::int64_t chunk, const float (&own)[8]) const {
    if (chunk >= own_chunks) return;
    float row[8];
#pragma unroll
    for (int c = 0; c < 8; ++c) row[c] = is_node && chunk * 8 + c == in_width ? 1 : own[c];
    store_eight(row, static_cast<Out*>(sum.own_rows) + (index * own_chunks + chunk) * 8);
  }
  __device__ void store(std::int64_t chunk, const RowWeights& weights, float (&around)[8], float (&own)[8]) const {
    if (chunk >= part_chunks) return;
    Out* const to = static_cast<Out*>(sum.operand) + index * sum.width + chunk * 8;
#pragma unroll
    for (int c = 0; c < 8; ++c) {
      around[c] *= weights.around;
      own[c] *= weights.own;
      if (!sum.has_own_part) around[c] += own[c];
      if (sum.has_ones && is_node && chunk * 8 + c == in_width) around[c] = 1;
    }
    store_eight(around, to);
    if (sum.has_own_part) store_eight(own, to + part_chunks * 8);
  }
};

}  // namespace salient
