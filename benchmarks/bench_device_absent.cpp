// benchmarks/bench_device_absent.cpp - stands in for bench_device.cpp in a build without CUDA.
#include "benchmarks/bench_device.h"
#include "core/error.h"

namespace salient {

std::string gpu_name() { return {}; }

std::unique_ptr<BenchDevice> open_bench_device() {
  fail(ErrorKind::kNoDevice, "this is a build without CUDA; use --device cpu");
}

}  // namespace salient
