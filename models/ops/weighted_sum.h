// models/ops/weighted_sum.h - sums of neighbours' rows with a factor for each entry, as a differentiable function.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/batch_view.h"
#include "models/numerics.h"

namespace salient {

/// Factors of a sum over a row and, beside it, the row's own node.
struct EntryFactors {
  at::Tensor of_entries;  ///< [E] f32
  at::Tensor of_self;     ///< [num_dst] f32
};

/// out[i, :] = the sum of of_entries[e] * x[j, :] over the entries e = j of row i, and of_self[i] * x[i, :].
/// Differentiable in x alone.
///
/// @param x  [num_src, width] f16 or f32, on the hop's device; more rows than num_src are allowed
/// @return   [num_dst, width] f32
/// Ordering, Lifetime, Determinism: as segment_sum() of operators.h.   Cost: that of attention_sum.h, with one head.
/// Oracle: tests/models/ops/weighted_sum_test.cpp, by dense matrices
at::Tensor weighted_sum(const HopView& hop, const at::Tensor& x, const EntryFactors& factors, GradientOrder order);

/// values[i] of the row i that each entry is in. @param values  [num_dst]   @return  [E]
at::Tensor of_rows(const HopView& hop, const at::Tensor& values);

/// The sum of the values of each row's entries. @param values  [E] f32   @return  [num_dst]
at::Tensor sum_in_rows(const HopView& hop, const at::Tensor& values);

}  // namespace salient
