// models/kernels/adam.h - one step of Adam over flat buffers, on the device. By hand, as LibTorch's fused kernel has
// one block for 65,536 parameters and leaves most of a GPU idle.
#pragma once

#include <cstdint>

struct CUstream_st;  // cudaStream_t is a pointer to it

namespace salient {

struct AdamRates {
  double lr;
  double weight_decay;  ///< L2 term added to the gradient, which the moments see, too
  double beta1, beta2, eps;
};

/// Flat buffers in device memory.
struct AdamState {
  float* parameters;                   ///< [size]
  const float* gradients;              ///< [size]
  float *exp_avg, *exp_avg_sq;         ///< [size] the moments
  float* step;                         ///< [1] steps done so far; becomes one more
  std::uint32_t* num_finished_blocks;  ///< [1] zero before and after each step
  std::int64_t size;
};

/// Enqueues on `stream` and returns.
///
/// Determinism:  an element depends on its own values alone.
/// Cost:         seven words of memory an element.
/// Algorithm:    Kingma and Ba (ICLR 2015), in the form of torch.optim.Adam.
/// Oracle:       at::_fused_adam_ on the host.
///
/// @param learning_rate  [1] device, in place of rates.lr; null: none
void adam_step(const AdamState& state, const AdamRates& rates, CUstream_st* stream,
               const double* learning_rate = nullptr);

}  // namespace salient
