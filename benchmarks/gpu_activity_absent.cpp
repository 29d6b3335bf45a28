// benchmarks/gpu_activity_absent.cpp - gpu_activity.h where CUPTI is not installed: no activity is seen.
#include "benchmarks/gpu_activity.h"

namespace salient {

GpuActivity::GpuActivity() = default;
GpuActivity::~GpuActivity() = default;
std::vector<GpuActivity::Total> GpuActivity::totals() {
  is_on_ = false;
  return {};
}

}  // namespace salient
