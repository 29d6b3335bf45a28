// benchmarks/bench_device_absent.cpp - bench_device.h and the GPU parts of the rounds in a build without CUDA.
#include "benchmarks/bench_device.h"

#include "benchmarks/gather_rounds.h"
#include "benchmarks/sampler_rounds.h"
#include "core/error.h"

namespace salient {

std::string gpu_name() { return {}; }

std::unique_ptr<BenchDevice> open_bench_device() {
  fail(ErrorKind::kNoDevice, "this is a build without CUDA; use --device cpu");
}

SamplerRates sample_on_gpu(const SamplingCase&, int, double) {
  fail(ErrorKind::kNoDevice, "this is a build without CUDA", Topic::kDevice);
}

GpuGatherRates gather_on_gpu(RowTable, std::span<const std::vector<NodeId>>, int) {
  fail(ErrorKind::kNoDevice, "this is a build without CUDA", Topic::kDevice);
}

}  // namespace salient
