// benchmarks/bench_device.h - the GPU as the torch-free benchmarks use it. Needs no CUDA toolkit to include.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

struct CUstream_st;

namespace salient {

/// Name of GPU 0; empty if there is none, or in a CPU build.
std::string gpu_name();

class BenchDevice {
 public:
  BenchDevice() = default;
  virtual ~BenchDevice() = default;
  BenchDevice(const BenchDevice&) = delete;
  BenchDevice& operator=(const BenchDevice&) = delete;
  virtual CUstream_st* stream() = 0;
  virtual void wait() = 0;  ///< until the stream is idle
};

/// GPU 0. @throws Error{kNoDevice}.
std::unique_ptr<BenchDevice> open_bench_device();

}  // namespace salient
