// models/resident/row_moments.h - sums and products of the columns of a matrix, over the distinct nodes of its rows.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/resident/step_memory.h"
#include "models/resident/tree.h"

namespace salient {

/// Columns of the rows at most.
inline constexpr std::int64_t kMostMomentColumns = 384;

std::int64_t moment_parts_size(std::int64_t width);                                      ///< in elements
constexpr std::int64_t moments_size(std::int64_t width) { return (width + 1) * width; }  ///< likewise

/// Of rows a of a level's nodes, over the first ones of n distinct nodes: A = sum of a, and
/// C = sum of (a - A / n)^T (a - A / n). Device memory.
struct RowMoments {
  Matrix rows;                  ///< bf16
  std::int64_t ones;            ///< the column that is 1 in rows of nodes
  const LocalId* num_nodes;     ///< [1]
  const std::uint8_t* first;    ///< FirstSeen::flags()
  const LocalId* num_distinct;  ///< [1] n
  float* parts;                 ///< [moment_parts_size()] scratch
  float* moments;               ///< [moments_size()]: C [width, width], then A [width]
};

/// Determinism: sums are added in a fixed order.
void row_moments(const RowMoments& of, cudaStream_t stream);

}  // namespace salient
