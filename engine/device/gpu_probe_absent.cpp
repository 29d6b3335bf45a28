// engine/device/gpu_probe_absent.cpp - gpu_probe.h in a build without CUDA.
#include "core/error.h"
#include "engine/device/gpu_probe.h"

namespace salient {

GpuProbe probe_gpus() { return {}; }

double pinned_copy_rate() { fail(ErrorKind::kNoDevice, "this is a build without CUDA", Topic::kDevice); }

}  // namespace salient
