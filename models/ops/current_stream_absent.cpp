// models/ops/current_stream_absent.cpp - takes the place of current_stream.cpp in a build without CUDA.
#include "core/error.h"
#include "models/ops/kernel_call.h"

namespace salient {

CUstream_st* current_stream(at::Device) { fail(ErrorKind::kInternal, "a tensor on a device in a build without CUDA"); }

}  // namespace salient
