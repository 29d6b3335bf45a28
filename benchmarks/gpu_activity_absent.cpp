// benchmarks/gpu_activity_absent.cpp - stands in for gpu_activity.cpp where CUPTI is not installed.
#include "benchmarks/gpu_activity.h"

namespace salient {

GpuActivity::GpuActivity() = default;
GpuActivity::~GpuActivity() = default;
std::vector<GpuActivity::Total> GpuActivity::totals() {
  is_on_ = false;
  return {};
}

}  // namespace salient
