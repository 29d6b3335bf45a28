// models/resident/urgent_stream.h - a stream whose kernels are started before those of others; captured, they keep
// that.
#pragma once

#include <memory>

#include "core/cuda/cuda.h"

namespace salient {

class UrgentStream {
 public:
  UrgentStream() {
    int least = 0, most = 0;
    cuda_check(cudaDeviceGetStreamPriorityRange(&least, &most));
    cudaStream_t raw = nullptr;
    cuda_check(cudaStreamCreateWithPriority(&raw, cudaStreamNonBlocking, most));
    handle_.reset(raw);
  }
  cudaStream_t get() const noexcept { return handle_.get(); }

 private:
  struct Destroy {
    void operator()(cudaStream_t raw) const noexcept { (void)cudaStreamDestroy(raw); }
  };
  std::unique_ptr<CUstream_st, Destroy> handle_;
};

}  // namespace salient
