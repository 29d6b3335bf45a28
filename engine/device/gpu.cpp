// engine/device/gpu.cpp - see gpu.h.
#include "engine/device/gpu.h"

#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>

#include "core/cuda/cuda.h"

namespace salient::gpu {

int count() {
  int count = 0;
  return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
}

const char* reason_of_absence() { return "no usable GPU"; }

CUstream_st* make_current(int index) {
  cuda_check(cudaSetDevice(index));
  const c10::cuda::CUDAStream stream =
      c10::cuda::getStreamFromPool(/*isHighPriority=*/true, static_cast<c10::DeviceIndex>(index));
  c10::cuda::setCurrentCUDAStream(stream);
  return stream.stream();
}

std::string name_of(int index) {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, index));
  return properties.name;
}

std::string pci_bus_id(int index) {
  char id[32] = "";
  return cudaDeviceGetPCIBusId(id, sizeof id, index) == cudaSuccess ? id : "";
}

std::int64_t peak_tensor_bytes(int index) {
  return c10::cuda::CUDACachingAllocator::getDeviceStats(static_cast<c10::DeviceIndex>(index)).reserved_bytes[0].peak;
}

Memory memory() {
  std::size_t free_bytes = 0, total_bytes = 0;
  cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes));
  return {static_cast<std::int64_t>(free_bytes), static_cast<std::int64_t>(total_bytes)};
}

void wait_for(CUstream_st* stream) { cuda_check(cudaStreamSynchronize(stream)); }

void forbid_host_waits(bool is_forbidden) {
  using c10::cuda::SyncDebugMode;
  c10::cuda::warning_state().set_sync_debug_mode(is_forbidden ? SyncDebugMode::L_ERROR : SyncDebugMode::L_DISABLED);
}

}  // namespace salient::gpu
