// engine/device/stream_stamps_absent.cpp - replaces stream_stamps.cpp in a build without CUDA.
#include "core/error.h"
#include "engine/device/time_stamps.h"

namespace salient {

std::unique_ptr<TimeStamps> make_stream_stamps(CUstream_st*) {
  fail(ErrorKind::kInternal, "a stream is timed in a build without CUDA");
}

}  // namespace salient
