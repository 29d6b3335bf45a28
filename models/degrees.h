// models/degrees.h - the degrees that a hop carries, as factors for its rows.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"

namespace salient {

/// Of each source's row in the whole graph: its entries, and how many of them are the node itself. f32 [num_src].
///
/// entries[i] * the mean of the entries that a hop kept of row i is an unbiased estimate of the sum over the whole row:
/// each entry is kept with the same probability, and counts entries / kept times.
/// Algorithm: Horvitz and Thompson (JASA 1952).
struct RowCounts {
  at::Tensor entries, self_loops;
};

/// @throws Error{kInternal} for a hop without degrees.
RowCounts row_counts(const HopView& hop);

/// values[0 .. num_dst) as a column [num_dst, 1], to scale rows of destinations by.
at::Tensor column_of_destinations(const HopView& hop, const at::Tensor& values);

}  // namespace salient
