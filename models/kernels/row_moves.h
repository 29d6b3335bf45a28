// models/kernels/row_moves.h - rows that are copied from, or to, listed places.
// By hand, as index_select() and index_copy_() take lists of 64-bit numbers alone, which batches do not have.
#pragma once

#include <cstdint>

#include "core/types.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// A list of places, which are distinct, and the width of rows.
struct RowPlaces {
  const LocalId* place;  ///< [count]
  std::int64_t count, width;
};

/// to[i, :] = from[place[i], :]
/// @param to  [count, width], host memory
void take_rows(const RowPlaces& places, const float* from, float* to);
/// to[place[i], :] = from[i, :]; other rows stay as they are.
void put_rows(const RowPlaces& places, const float* from, float* to);
/// to[i] = nodes[place[i]] - first: the rows of nodes in a table whose row 0 is that of node `first`.
void places_in_table(const RowPlaces& places, const NodeId* nodes, std::int64_t first, std::int64_t* to);

/// The same on device memory: enqueues on `stream` and returns. Oracle: the host's version, bit for bit.
void take_rows(const RowPlaces& places, const float* from, float* to, CUstream_st* stream);
void put_rows(const RowPlaces& places, const float* from, float* to, CUstream_st* stream);
void places_in_table(const RowPlaces& places, const NodeId* nodes, std::int64_t first, std::int64_t* to,
                     CUstream_st* stream);

}  // namespace salient
