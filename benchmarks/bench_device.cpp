// benchmarks/bench_device.cpp - see bench_device.h.
#include "benchmarks/bench_device.h"

#include "core/cuda/cuda.h"

namespace salient {
namespace {

class CudaBenchDevice final : public BenchDevice {
 public:
  CUstream_st* stream() override { return stream_.get(); }
  void wait() override { stream_.wait(); }

 private:
  CudaStream stream_;
};

}  // namespace

std::string gpu_name() {
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) return properties.name;
  (void)cudaGetLastError();
  return {};
}

std::unique_ptr<BenchDevice> open_bench_device() {
  cuda_check(cudaSetDevice(0));
  return std::make_unique<CudaBenchDevice>();
}

}  // namespace salient
