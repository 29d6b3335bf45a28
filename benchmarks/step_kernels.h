// benchmarks/step_kernels.h - what a training step makes the GPU do, by kernel.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace salient {

/// Of one step, on average.
struct StepKernel {
  std::string name;  ///< demangled; "copy" or "fill"
  double launches = 0;
  double seconds = 0;  ///< on the GPU
};

/// What `more` makes the GPU do beyond `less`, divided by the `steps` that it has beyond; the longest first. Both wait
/// for the GPU before they return. What every training begins with, such as the timing of products, is in neither; a
/// kernel that `less` has more of, as its products took other algorithms, counts below 0, so that sums are right.
/// Nothing but warnings is logged meanwhile. Empty without a GPU.
std::vector<StepKernel> step_kernels(const std::function<void()>& less, const std::function<void()>& more,
                                     std::size_t steps);

}  // namespace salient
