// models/kernels/sparse_dropout.h - the masks of dropout.h on the values of sparse rows.
#pragma once

#include <cstdint>

#include "models/kernels/dropout.h"
#include "models/kernels/sparse_product.h"

namespace salient {

/// out[k] = values[k] * scale where the mask keeps element (row of k, columns[k]), else 0: dropout() of the dense rows.
///
/// @param x  host   @param nodes  [num_rows] global ids   @param out  [begin[num_rows]] f32, host
/// Determinism: as dropout().   Threads: runs on the caller's oneTBB arena.   Cost: one Philox block for each value
/// Oracle: dropout_reference()
template <class T>
void sparse_dropout(const DropoutMask& mask, const SparseRowsOf<T>& x, const std::uint32_t* nodes, float* out);

/// The same on device memory: enqueues on `stream` and returns.
template <class T>
void sparse_dropout(const DropoutMask& mask, const SparseRowsOf<T>& x, const std::uint32_t* nodes, float* out,
                    CUstream_st* stream);

}  // namespace salient
