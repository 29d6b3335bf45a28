// loaders/device_upload_absent.cpp - replaces device_upload.cpp in a build without CUDA.
#include "core/error.h"
#include "loaders/device_upload.h"

namespace salient {

namespace {
[[noreturn]] void refuse_upload() {
  fail(ErrorKind::kNoDevice, "nothing is copied to a GPU: this is a build without CUDA", Topic::kDeviceFeatures);
}
}  // namespace

void upload(const char*, const std::byte*, std::size_t, std::byte*) { refuse_upload(); }

void upload(const char*, std::size_t, std::size_t, const std::function<void(std::size_t, std::size_t, std::byte*)>&,
            std::byte*) {
  refuse_upload();
}

}  // namespace salient
