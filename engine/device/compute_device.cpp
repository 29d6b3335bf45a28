// engine/device/compute_device.cpp - see compute_device.h.
#include "engine/device/compute_device.h"

#include <ATen/Parallel.h>

#include "core/error.h"

#if SALIENT_HAS_CUDA
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include "core/cuda/cuda.h"
#endif

namespace salient {
namespace {

int num_gpus() {
#if SALIENT_HAS_CUDA
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
#else
  return 0;
#endif
}

}  // namespace

ComputeDevice ComputeDevice::choose(std::optional<DeviceKind> wanted, [[maybe_unused]] int local_rank,
                                    int cpu_threads) {
  const int gpus = wanted == DeviceKind::kCpu ? 0 : num_gpus();
  if (gpus == 0) {
#if SALIENT_HAS_CUDA
    if (wanted == DeviceKind::kCuda) fail(ErrorKind::kNoDevice, "--device cuda: no usable GPU; use --device cpu");
#else
    if (wanted == DeviceKind::kCuda)
      fail(ErrorKind::kNoDevice, "--device cuda: this is a CPU build; install a CUDA toolkit and build again");
#endif
    at::set_num_threads(cpu_threads);
    return {c10::Device(c10::kCPU), nullptr};
  }
#if SALIENT_HAS_CUDA
  const auto index = static_cast<c10::DeviceIndex>(local_rank % gpus);
  cuda_check(cudaSetDevice(index));
  at::set_num_threads(1);
  const c10::cuda::CUDAStream stream = c10::cuda::getStreamFromPool(/*isHighPriority=*/true, index);
  c10::cuda::setCurrentCUDAStream(stream);
  return {c10::Device(c10::kCUDA, index), stream.stream()};
#else
  return {c10::Device(c10::kCPU), nullptr};
#endif
}

void ComputeDevice::wait() const {
#if SALIENT_HAS_CUDA
  if (is_cuda()) cuda_check(cudaStreamSynchronize(stream_));
#endif
}

std::string ComputeDevice::name() const {
#if SALIENT_HAS_CUDA
  if (is_cuda()) {
    cudaDeviceProp properties{};
    cuda_check(cudaGetDeviceProperties(&properties, device_.index()));
    return properties.name;
  }
#endif
  return "cpu";
}

std::optional<std::int64_t> ComputeDevice::peak_bytes() const {
#if SALIENT_HAS_CUDA
  if (is_cuda()) {
    const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(device_.index());
    return stats.reserved_bytes[0].peak;
  }
#endif
  return std::nullopt;
}

std::optional<ComputeDevice::Memory> ComputeDevice::memory() const {
#if SALIENT_HAS_CUDA
  if (is_cuda()) {
    std::size_t free_bytes = 0, total_bytes = 0;
    cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes));
    return Memory{static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
  }
#endif
  return std::nullopt;
}

NoHostWait::NoHostWait(const ComputeDevice& device) : is_active_(device.is_cuda()) {
#if SALIENT_HAS_CUDA
  if (is_active_) c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_ERROR);
#endif
}

NoHostWait::~NoHostWait() {
#if SALIENT_HAS_CUDA
  if (is_active_) c10::cuda::warning_state().set_sync_debug_mode(c10::cuda::SyncDebugMode::L_DISABLED);
#endif
}

}  // namespace salient
