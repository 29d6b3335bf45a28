// loaders/device_features_absent.cpp - replaces device_features.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/device_features.h"

namespace salient {

DeviceFeatures::DeviceFeatures(RowTable) {
  fail(ErrorKind::kNoDevice, "no feature rows in GPU memory: this is a build without CUDA", Topic::kDeviceFeatures);
}

DeviceFeatures::DeviceFeatures(RowTable host, std::span<const NodeId>) : DeviceFeatures(host) {}

void DeviceFeatures::Free::operator()(std::byte*) const noexcept {}

}  // namespace salient
