// models/resident/combined_rows.h - rows of several matrices as one: their sum, side by side, the largest of them.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "models/describe/resident_limits.h"
#include "models/resident/neighbour_sum.h"
#include "models/resident/step_memory.h"

namespace salient {

/// The first `columns` columns of `to` += those of the addend, in the rows that a level has; others stay as they are.
///
/// @param num_nodes  [1] device, of the level     @param rows  the most that there may be
/// Cost: reads both, writes `to`.
void add_rows(const Matrix& to, std::int64_t columns, const RowAddend& addend, const LocalId* num_nodes,
              std::int64_t rows, cudaStream_t stream);

/// What jumping knowledge reads: rows of the seeds, of each layer as many columns.
struct JoinedRows {
  const LocalId* num_nodes;  ///< [1] device, of the seeds
  std::int64_t columns;      ///< a multiple of 8
  int num_layers;
  RowAddend layers[kMaxResidentLayers]{};
};

/// out = (layer 0 | layer 1 | ... | 1), or (max over the layers | 1). Rows behind the last seed become zeros.
void concat_rows(const JoinedRows& joined, const Matrix& out, std::int64_t rows, cudaStream_t stream);
void max_rows(const JoinedRows& joined, const Matrix& out, std::int64_t rows, cudaStream_t stream);

/// The gradient of max_rows(): it goes to the largest, of equal ones to the first layer's, as torch's max does.
///
/// @param gradient  as out of max_rows()
/// @param to        [rows, num_layers * columns]: of all layers side by side; every row is written
void max_rows_backward(const JoinedRows& joined, const Matrix& gradient, const Matrix& to, std::int64_t rows,
                       cudaStream_t stream);

}  // namespace salient
