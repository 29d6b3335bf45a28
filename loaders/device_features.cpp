// loaders/device_features.cpp - see device_features.h.
#include "loaders/device_features.h"

#include <algorithm>
#include <string>

#include "engine/core/error.h"
#include "engine/cuda/cuda.h"
#include "loaders/device_upload.h"

namespace salient {

void DeviceFeatures::Free::operator()(std::byte* memory) const noexcept { (void)cudaFree(memory); }

DeviceFeatures::DeviceFeatures(RowTable host) : table_(host) {
  const std::size_t bytes = host.num_rows * host.row_bytes;
  void* raw = nullptr;
  if (cudaMalloc(&raw, std::max<std::size_t>(bytes, 1)) != cudaSuccess) {
    (void)cudaGetLastError();
    fail(ErrorKind::kDeviceMemory,
         "the features (" + std::to_string(bytes >> 20) + " MiB) do not fit into GPU memory; use --features host");
  }
  memory_.reset(static_cast<std::byte*>(raw));
  table_.data = memory_.get();
  upload("features to the GPU", host.data, bytes, memory_.get());
}

}  // namespace salient
