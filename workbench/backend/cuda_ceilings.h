// workbench/backend/cuda_ceilings.h - how fast a GPU multiplies and adds at best: the ceilings of compute-bound work.
#pragma once

#include <string>

#include "workbench/backend/backend.h"

namespace salient::workbench {

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

/// Operations per second at best, a multiplication and an addition being two; takes about 0.1 s, in the current context
/// of a worker. From sm_100 on at least the data sheet's rate, since mma.sync is not the fastest way there.
/// @throws Error{kInternal}
double measure_arithmetic(Arithmetic arithmetic, int device);

}  // namespace salient::workbench
