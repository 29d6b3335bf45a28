// loaders/device_ring_absent.cpp - replaces device_ring.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/device_ring.h"

namespace salient {

std::unique_ptr<DeviceRing> make_device_ring(std::size_t, std::size_t, const ResidentView&) {
  fail(ErrorKind::kNoDevice, "no batches in GPU memory: this is a build without CUDA", Topic::kDevice);
}

}  // namespace salient
