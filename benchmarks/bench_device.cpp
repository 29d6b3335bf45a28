// benchmarks/bench_device.cpp - see bench_device.h.
#include "benchmarks/bench_device.h"

#include <algorithm>
#include <cstring>

#include "core/cuda/cuda.h"
#include "core/timer.h"

namespace salient {
namespace {

class CudaBenchDevice final : public BenchDevice {
 public:
  CUstream_st* stream() override { return stream_.get(); }
  void wait() override { stream_.wait(); }

  double pinned_copy_rate() override {
    constexpr std::size_t kBytes = std::size_t{256} << 20;
    const auto host = make_pinned_array<std::byte>(kBytes);
    std::memset(host.get(), 1, kBytes);
    const auto device = make_device_array<std::byte>(kBytes);
    double seconds = 1e9;
    for (int round = 0; round < 6; ++round) {  // the first is a warm-up
      const Timer timer;
      cuda_check(cudaMemcpyAsync(device.get(), host.get(), kBytes, cudaMemcpyHostToDevice, stream_.get()));
      stream_.wait();
      if (round > 0) seconds = std::min(seconds, timer.seconds());
    }
    return static_cast<double>(kBytes) / seconds;
  }

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
