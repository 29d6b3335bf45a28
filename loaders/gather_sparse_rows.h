// loaders/gather_sparse_rows.h - copies selected sparse rows one behind the other, in host memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/types.h"
#include "store/sparse_rows.h"

namespace salient {

/// begin[i] = the number of values in rows row_of[0], ..., row_of[i - 1], for i in [0, R].
///
/// @param row_of  [R]; each in [0, V)    @param begin  [R + 1]
/// @return        begin[R]
/// @throws Error{kHostMemory} for 2^31 values or more
LocalId begin_of_rows(const SparseRowTable& table, const NodeId* row_of, std::size_t num_out, LocalId* begin);

/// Where gathered rows go.
struct SparseRowsOut {
  const LocalId* begin;  ///< [R + 1] of begin_of_rows()
  LocalId* columns;      ///< [begin[R]]
  std::byte* values;     ///< [begin[R]] of value_bytes each
  std::size_t value_bytes;
};

/// Row row_of[i] of the table becomes values begin[i] .. begin[i + 1], on the caller's thread.
/// Cost:    twice the bytes of the rows; reads of rows a few rows ahead are under way.
/// Oracle:  the dense rows, see tests/loaders/sparse_batches_test.cpp
void gather_sparse_rows(const SparseRowTable& table, const NodeId* row_of, std::size_t num_out,
                        const SparseRowsOut& out);

}  // namespace salient
