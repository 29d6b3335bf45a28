// loaders/device_features.cpp - see device_features.h.
#include "loaders/device_features.h"

#include "core/cuda/cuda.h"
#include "core/error.h"
#include "loaders/device_upload.h"
#include "loaders/gather_rows.h"

namespace salient {

void DeviceFeatures::Free::operator()(std::byte* memory) const noexcept { (void)cudaFree(memory); }

DeviceFeatures::DeviceFeatures(RowTable host) : table_(host) {
  allocate(host.num_rows);
  upload("features to the GPU", host.data, host.num_rows * host.row_bytes, memory_.get());
}

DeviceFeatures::DeviceFeatures(RowTable host, std::span<const NodeId> rows) : table_(host) {
  allocate(rows.size());
  const auto write = [&](std::size_t first, std::size_t count, std::byte* out) {
    gather_rows(host, rows.data() + first, count, out);
  };
  upload("features to the GPU", rows.size(), host.row_bytes, write, memory_.get());
}

void DeviceFeatures::allocate(std::size_t num_rows) {
  const std::size_t bytes = num_rows * table_.row_bytes;
  memory_.reset(make_device_array<std::byte>(bytes, "the feature rows", Topic::kDeviceFeatures).release());
  table_.data = memory_.get();
  table_.num_rows = num_rows;
}

}  // namespace salient
