// loaders/device_features_absent.cpp - stands in for device_features.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/device_features.h"

namespace salient {

DeviceFeatures::DeviceFeatures(RowTable) {
  fail(ErrorKind::kNoDevice, "--features device: this is a build without CUDA; use --features host");
}

DeviceFeatures::DeviceFeatures(RowTable host, std::span<const NodeId>) : DeviceFeatures(host) {}

void DeviceFeatures::Free::operator()(std::byte*) const noexcept {}

}  // namespace salient
