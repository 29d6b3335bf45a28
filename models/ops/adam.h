// models/ops/adam.h - one step of Adam over flat tensors, on the host or the device.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/adam.h"

namespace salient {

/// f32 of one size, and on one device.
struct AdamTensors {
  at::Tensor parameters, gradients, exp_avg, exp_avg_sq;
  at::Tensor step;                 ///< f32 scalar: steps done so far
  at::Tensor num_finished_blocks;  ///< i32 scalar, zero: the device's own
};

/// Those of a device, for kernels that do the step. They are the tensors' memory.
AdamState device_state_of(const AdamTensors& tensors);
/// Betas 0.9 and 0.999, eps 1e-8.
AdamRates adam_rates(double lr, double weight_decay);

/// Betas 0.9 and 0.999, eps 1e-8. On a device the current stream's work.
/// @param weight_decay  L2 term added to the gradient, as torch.optim.Adam does
void adam_step(const AdamTensors& tensors, double lr, double weight_decay);

/// Rows of a table that a step touches, on one device; f32.
struct AdamRowTensors {
  at::Tensor table, exp_avg, exp_avg_sq;  ///< [num_rows, width]
  at::Tensor rows;                        ///< int64 [n] distinct
  at::Tensor gradients;                   ///< [n, width]
  at::Tensor step;                        ///< f32 scalar: steps done before this one; stays as it is
};

/// The same of these rows and their moments; those of the others stay as they are, as torch.optim.SparseAdam has it.
/// @param weight_decay  as above, of these rows alone
/// Determinism: a row depends on its own values alone, for any number of threads of the caller's oneTBB arena.
void adam_rows_step(const AdamRowTensors& tensors, double lr, double weight_decay);

}  // namespace salient
