// benchmarks/gpu_activity.h - what a piece of code makes the GPU do: how many launches, and which take the time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace salient {

/// While it lives, records what this process runs on its GPUs: kernels, copies, fills. One at a time; it slows launches
/// down, so nothing is timed meanwhile but the GPU's own work.
class GpuActivity {
 public:
  struct Total {
    std::string name;  ///< of the kernel, demangled; "copy" or "fill"
    std::int64_t launches = 0;
    double seconds = 0;  ///< on the GPU
  };

  GpuActivity();
  ~GpuActivity();
  GpuActivity(const GpuActivity&) = delete;
  GpuActivity& operator=(const GpuActivity&) = delete;

  /// By name, the longest first; empty if nothing can be seen: no GPU, or a driver that does not let CUPTI watch. The
  /// caller has waited for the device.
  std::vector<Total> totals();

 private:
  bool is_on_ = false;
};

}  // namespace salient
