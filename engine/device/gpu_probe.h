// engine/device/gpu_probe.h - the GPUs of this machine and how fast memory reaches them, without LibTorch. A build
// without CUDA has it too, and finds none.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace salient {

struct GpuFacts {
  std::string name{};
  int compute_capability = 0;  ///< 90 of 9.0
  std::int64_t total_bytes = 0;
};

struct GpuProbe {
  bool is_cuda_build = false;
  int runtime_version = 0, driver_version = 0;  ///< 13000 of 13.0; driver: the newest CUDA it knows, 0 without one
  std::vector<GpuFacts> gpus{};                 ///< that CUDA lets this process use
};
GpuProbe probe_gpus();

/// Bytes per second of one big copy from pinned host memory to the current GPU, best of five.
/// @throws Error{kNoDevice} without one, Error{kHostMemory}, Error{kDeviceMemory}
double pinned_copy_rate();

}  // namespace salient
