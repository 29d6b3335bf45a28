// benchmarks/bench_device.cpp - see bench_device.h.
#include "benchmarks/bench_device.h"

#include <cstring>

#include "benchmarks/measure.h"
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
    const auto copy = [&] {
      const Timer timer;
      cuda_check(cudaMemcpyAsync(device.get(), host.get(), kBytes, cudaMemcpyHostToDevice, stream_.get()));
      stream_.wait();
      return TimedWork{static_cast<double>(kBytes), timer.seconds()};
    };
    return measure({.warm_ups = 1, .rounds = 5}, copy).rate.best;
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
