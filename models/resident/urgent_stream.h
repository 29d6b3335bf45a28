// models/resident/urgent_stream.h - streams of a step: one whose kernels are started before those of others, captured
// too, and the order between two.
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

/// Later work on `stream` comes behind what `ahead` has so far. Both may be captured.
inline void follow(cudaStream_t stream, cudaStream_t ahead) {
  CudaEvent passed(CudaEvent::Kind::kOrder);
  passed.record(ahead);
  passed.make_wait(stream);
}

}  // namespace salient
