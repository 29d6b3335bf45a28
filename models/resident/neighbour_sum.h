// models/resident/neighbour_sum.h - operands that are sums over a tree: of gcn, gin and sage-ri, and their gradient.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/row_factors.h"
#include "models/resident/row_source.h"

namespace salient {

/// Row i of the operand, with w the weights of row_factors.h, x the rows of a source after its own dropout `input`, and
/// D_n, D_s more dropouts: around_i = sum of w_ij D_n(x_j) over the kept entries j, own_i = w_i D_s(x_i), and
/// (around_i + own_i | 1) or (around_i | own_i). Rows behind the tree's end are zeros.
struct NeighbourSum {
  SumRule rule;
  TreeDropout input, neighbours, self;  ///< thresholds of 0: none. `input` is of TableRows alone
  bool has_own_part;                    ///< the second form
  bool has_ones;                        ///< the column of ones, which a bias is multiplied by
  std::int64_t width;                   ///< of the operand: parts and ones, padded, and
  std::int64_t num_others = 0;          ///< columns behind them, which another kernel writes
  ActivationType type;                  ///< of the operand
  void* operand;                        ///< [capacity, width] device
  void* own_rows;                       ///< [capacity, padded(features + 1)] device: x_i | 1; null: not wanted
  /// [grown_capacity, width of z / 8] device, of LevelRows with `neighbours` or `self`, for aggregate_backward(): bit
  /// c % 8 of byte c / 8 becomes (column c is kept), by `self` in rows of the level's nodes, by `neighbours` in their
  /// entries'.
  std::uint8_t* drawn;
};

/// Terms are added in the samplers' order, in f32.
void neighbour_sum(const NeighbourSum& sum, const TableRows& rows, cudaStream_t stream);
void neighbour_sum(const NeighbourSum& sum, const LevelRows& rows, cudaStream_t stream);

/// More gradient for the first rows of a matrix.
struct RowAddend {
  const void* rows = nullptr;  ///< in the activations' type; null: none
  std::int64_t stride = 0;     ///< between rows, in elements
};

/// A gradient of rows behind the dropout and leaky_relu of a batch norm that made them: NormLayer's bits.
struct MaskedRows {
  void* rows = nullptr;                ///< bf16, as dz; null: not wanted
  const std::uint8_t* kept = nullptr;  ///< null: no dropout
  const std::uint8_t* positive = nullptr;
  float scale = 1, slope = 0;  ///< of what is kept; of what was not positive
};

/// The gradient of neighbour_sum() of LevelRows with respect to z. Each row has one source, so nothing is added up but
/// what the model uses beside the sum: `self` of the nodes of the level, `seeds` of the first num_seeds.
struct AggregateBackward {
  const void* gradient;  ///< [capacity, width] device: of the operand
  void* dz;              ///< [grown_capacity, width of z] device; every row is written
  RowAddend self{}, seeds{};
  const StepHeader* header;
  MaskedRows masked{};  ///< written, too; of rows in bf16 that are read as they are
};
void aggregate_backward(const NeighbourSum& sum, const LevelRows& rows, const AggregateBackward& spread,
                        cudaStream_t stream);

}  // namespace salient
