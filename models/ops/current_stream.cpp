// models/ops/current_stream.cpp - the stream that torch's own operators would use.
#include <c10/cuda/CUDAStream.h>

#include "models/ops/kernel_call.h"

namespace salient {

CUstream_st* current_stream(at::Device device) { return c10::cuda::getCurrentCUDAStream(device.index()).stream(); }

}  // namespace salient
