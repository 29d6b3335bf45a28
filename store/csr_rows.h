// store/csr_rows.h - the last step of every way to a graph: sort each row, drop repeats, close the gaps.
#pragma once

#include "core/console/progress.h"
#include "store/csr_arrays.h"

namespace salient {

/// On entry row v holds `filled[v]` entries in any order, from indptr[v] on, and ends before indptr[v + 1]. On return
/// every row is strictly ascending, rows follow each other without gaps, and self_loops and duplicates are counted.
///
/// @param filled  [V]; on return the final row lengths.
/// Determinism: the result depends on the sets of entries alone, not on their order or on threads.
/// Cost:        sorting, then one move of the entries; no second array.
void tidy_rows(CsrArrays& graph, UnsetHugeVector<NodeId>& filled);

/// The same for a slice of a graph: its row 0 is node `first_row`, by which self loops are found.
/// @param progress  of the caller, in entries.
void tidy_rows(CsrArrays& graph, UnsetHugeVector<NodeId>& filled, NodeId first_row, Progress& progress);

}  // namespace salient
