// models/kernels/filled_rows.cpp - see filled_rows.h.
#include "models/kernels/filled_rows.h"

#include <algorithm>

#include "models/kernels/parallel.h"

namespace salient {
namespace {

constexpr std::int64_t kRowsPerTask = 4096;

}  // namespace

void find_filled_rows(const SlotRows& rows, const FilledRowArrays& to) {
  LocalId filled = 0;
  for (std::int64_t row = 0; row < rows.num_rows; ++row) {
    to.filled_before[row] = filled;
    if (rows.indptr[row] == rows.indptr[row + 1]) continue;
    to.indptr[filled] = rows.indptr[row];
    to.dst[filled++] = rows.row_dst[row];
  }
  to.filled_before[rows.num_rows] = filled;
  to.indptr[filled] = rows.indptr[rows.num_rows];
  parallel_rows(rows.num_filled, kRowsPerTask, [&](std::int64_t place) {
    const LocalId row = rows.relation_rows[place], number = to.filled_before[row];
    to.dst_by_relation[place] = rows.row_dst[row];
    to.in_hop[place] = number;
    to.by_relation[number] = static_cast<LocalId>(place);
  });
  parallel_rows(rows.num_dst + 1, kRowsPerTask,
                [&](std::int64_t i) { to.dst_indptr[i] = to.filled_before[rows.row_begin[i]]; });
}

void reorder_rows(const RowOrder& order, LocalId* to_indptr, LocalId* to_indices) {
  to_indptr[0] = 0;
  for (std::int64_t i = 0; i < order.num_rows; ++i) {
    const LocalId row = order.rows[i];
    to_indptr[i + 1] = to_indptr[i] + order.indptr[row + 1] - order.indptr[row];
  }
  parallel_rows(order.num_rows, kRowsPerTask, [&](std::int64_t i) {
    const LocalId row = order.rows[i];
    std::copy(order.indices + order.indptr[row], order.indices + order.indptr[row + 1], to_indices + to_indptr[i]);
  });
}

}  // namespace salient
