// models/kernels/adam_rows.h - one step of Adam over listed rows of a table, on the device: in place, in one launch.
#pragma once

#include <cstdint>

#include "models/kernels/adam.h"

namespace salient {

/// Rows of a table and what moves them. Device memory.
struct AdamRowsState {
  float *table, *exp_avg, *exp_avg_sq;  ///< [rows of the table, width]
  const std::int64_t* rows;             ///< [count] distinct
  const float* gradients;               ///< [count, width]
  const float* step;                    ///< [1] steps done before this one; stays as it is
  std::int64_t count, width;
};

/// Enqueues on `stream` and returns. An element's step is that of adam_step().
/// Determinism: a row depends on its own values alone.   Cost: seven words of memory an element, and 8 bytes a row.
/// Oracle: adam_step() of these rows alone.
void adam_rows_step(const AdamRowsState& state, const AdamRates& rates, CUstream_st* stream);

}  // namespace salient
