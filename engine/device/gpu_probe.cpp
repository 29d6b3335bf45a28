// engine/device/gpu_probe.cpp - see gpu_probe.h.
#include "engine/device/gpu_probe.h"

#include <algorithm>
#include <cstring>

#include "core/cuda/cuda.h"
#include "core/timer.h"

namespace salient {

GpuProbe probe_gpus() {
  GpuProbe probe{.is_cuda_build = true};
  (void)cudaRuntimeGetVersion(&probe.runtime_version);
  (void)cudaDriverGetVersion(&probe.driver_version);
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, index) != cudaSuccess) continue;
    probe.gpus.push_back({.name = properties.name,
                          .compute_capability = 10 * properties.major + properties.minor,
                          .total_bytes = static_cast<std::int64_t>(properties.totalGlobalMem)});
  }
  (void)cudaGetLastError();  // of a machine without a GPU
  return probe;
}

double pinned_copy_rate() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  constexpr int kRounds = 6;  // the first warms up
  const CudaStream stream;
  const auto host = make_pinned_array<std::byte>(kBytes);
  std::memset(host.get(), 1, kBytes);
  const auto device = make_device_array<std::byte>(kBytes);
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Timer timer;
    cuda_check(cudaMemcpyAsync(device.get(), host.get(), kBytes, cudaMemcpyHostToDevice, stream.get()));
    stream.wait();
    if (round > 0) best = std::max(best, static_cast<double>(kBytes) / timer.seconds());
  }
  return best;
}

}  // namespace salient
