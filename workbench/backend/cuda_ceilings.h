// workbench/backend/cuda_ceilings.h - how fast a GPU multiplies and adds at best: the ceilings of compute-bound work.
#pragma once

#include <string>

#include "workbench/backend/backend.h"

namespace salient::workbench {

/// Operations per second. A multiplication and an addition are two.
struct ArithmeticRates {
  double f32 = 0, tf32_tensor = 0, bf16_tensor = 0;
};

enum class Arithmetic { kF32, kTf32Tensor, kBf16Tensor };

/// A kernel `salient_rate(steps, sink)` as PTX, whose blocks do nothing but multiply and add: wgmma on sm_90, mma.sync
/// on others. Numbers are in [0.5, 1) with mixed bits, since zeros would cost less power.
struct RateKernel {
  std::string ptx{};
  unsigned threads = 0;   ///< of a block
  unsigned blocks = 0;    ///< of a multiprocessor
  double operations = 0;  ///< of a block and step
};
RateKernel rate_kernel(Arithmetic arithmetic, int major);

/// Measures all three in about 50 ms, in the current context of a worker. @throws Error{kInternal}
ArithmeticRates measure_arithmetic(int multiprocessors, int major);

}  // namespace salient::workbench
