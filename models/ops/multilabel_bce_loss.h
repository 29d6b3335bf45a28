// models/ops/multilabel_bce_loss.h - the loss of several labels a node, as a differentiable tensor function.
#pragma once

#include <ATen/core/Tensor.h>

namespace salient {

/// Binary cross entropy of sigmoid(logits) with (1 - s) * flag + s / 2, s = label smoothing, summed over the known
/// labels; torch's binary_cross_entropy_with_logits(reduction="sum") of those. Differentiable in logits.
///
/// @param logits  [S, T] f32
/// @param flags   int8 [S, T], contiguous: 1, 0, or -1 = not known: adds nothing
/// @param sums    f64 [2], on the same device: receives the loss, and how many known labels are predicted right
/// @return        f32 [], the loss
/// Ordering: on a device the current stream's work: two launches, and one in the backward pass; never waits.
/// Determinism, Oracle: see models/kernels/multilabel_bce_loss.h
at::Tensor multilabel_bce_loss_sum(const at::Tensor& logits, const at::Tensor& flags, double label_smoothing,
                                   const at::Tensor& sums);

}  // namespace salient
