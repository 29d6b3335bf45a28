// models/kernels/filled_rows.h - the rows of a typed hop that have entries, in the order of the hop and of relations.
// By hand, as tensor operators take twenty launches for it, which is what small steps on a GPU consist of.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/types.h"

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

/// The rows of a hop of a typed graph. Borrows its arrays.
struct SlotRows {
  const LocalId* indptr;         ///< [num_rows + 1]
  const LocalId* row_begin;      ///< [num_dst + 1] the first row of each destination
  const LocalId* row_dst;        ///< [num_rows]
  const LocalId* relation_rows;  ///< [num_filled] the rows with entries, relation by relation
  std::int64_t num_rows, num_dst, num_filled;
};

/// What is found. The K = num_filled rows with entries have numbers in the hop's order, and places in relation order.
struct FilledRowArrays {
  LocalId* filled_before;    ///< [num_rows + 1] scratch memory: rows with entries before each
  LocalId* indptr;           ///< [K + 1] the hop's, of these rows alone
  LocalId* dst;              ///< [K] the destination of each number
  LocalId* dst_by_relation;  ///< [K] and of each place
  LocalId* in_hop;           ///< [K] the number of each place
  LocalId* by_relation;      ///< [K] the place of each number
  LocalId* dst_indptr;       ///< [num_dst + 1] the numbers of each destination begin there
};

/// Host memory.   Cost: two passes over the rows.
void find_filled_rows(const SlotRows& rows, const FilledRowArrays& to);
/// The same on the device: enqueues on `stream` and returns. Oracle: the host's version.
/// @param scratch  device memory, filled_rows_scratch_bytes(num_rows)
void find_filled_rows(const SlotRows& rows, const FilledRowArrays& to, void* scratch, std::size_t scratch_bytes,
                      CUstream_st* stream);
std::size_t filled_rows_scratch_bytes(std::int64_t num_rows);

/// Rows of a CSR in another order.
struct RowOrder {
  const LocalId* indptr;   ///< of the CSR
  const LocalId* indices;  ///< likewise
  const LocalId* rows;     ///< [num_rows] of it
  std::int64_t num_rows;
};

/// The CSR of these rows: to_indptr [num_rows + 1], to_indices with an element for each of their entries. Host memory.
void reorder_rows(const RowOrder& order, LocalId* to_indptr, LocalId* to_indices);
/// The same on the device: enqueues on `stream` and returns. Oracle: the host's version.
/// @param scratch  device memory, filled_rows_scratch_bytes(order.num_rows)
void reorder_rows(const RowOrder& order, LocalId* to_indptr, LocalId* to_indices, void* scratch,
                  std::size_t scratch_bytes, CUstream_st* stream);

}  // namespace salient
