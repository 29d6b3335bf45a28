// prepare/writing/scatter_rows.h - entries in any order become rows: count, prefix sum, scatter.
#pragma once

#include <atomic>
#include <cstdint>

#include "store/csr_arrays.h"

namespace salient {

/// Rows as tidy_rows() wants them: row v holds filled[v] entries from indptr[v] on, in no order.
///
/// @param for_each  for_each(use) calls use(row, entry) for every entry, row < num_rows, on any threads; it is called
///                  twice, to count and to place, and must give the same entries.
/// @param filled    sized and set.
/// Cost:            12 bytes per row and 4 per entry.
template <class ForEach>
CsrArrays scatter_rows(std::size_t num_rows, UnsetHugeVector<NodeId>& filled, ForEach for_each) {
  CsrArrays graph;
  graph.indptr.assign(num_rows + 1, 0);
  EdgeOffset* const cursor = graph.indptr.data() + 1;
  const auto advance = [cursor](NodeId row) {
    return std::atomic_ref(cursor[row]).fetch_add(1, std::memory_order_relaxed);
  };
  for_each([&](NodeId row, NodeId) { (void)advance(row); });

  // cursor[v] becomes the start of row v; the scatter moves it to the end, which is indptr[v + 1]
  EdgeOffset total = 0;
  filled.resize(num_rows);
  for (std::size_t v = 0; v < num_rows; ++v) {
    const EdgeOffset count = cursor[v];
    filled[v] = static_cast<NodeId>(count);
    cursor[v] = total;
    total += count;
  }
  graph.indices.resize(static_cast<std::size_t>(total));
  for_each([&](NodeId row, NodeId entry) { graph.indices[static_cast<std::size_t>(advance(row))] = entry; });
  return graph;
}

}  // namespace salient
