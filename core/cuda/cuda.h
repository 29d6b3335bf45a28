// core/cuda/cuda.h - status check and owning handles. Needs the CUDA runtime, not nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>

#include "core/error.h"
#include "core/number_text.h"

namespace salient {

/// Throws unless `status` is success: kDeviceMemory, kNoDevice, or else kInternal with the caller's file and line.
inline void cuda_check(cudaError_t status, Spot spot = Spot::here()) {
  if (status == cudaSuccess) [[likely]]
    return;
  const std::string what = std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) fail(ErrorKind::kDeviceMemory, what, Topic::kBatch);
  if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver)
    fail(ErrorKind::kNoDevice, what, Topic::kDevice);
  require(false, what.c_str(), spot);
}

/// Owns one stream. Moves, never copies. Functions that only use a stream take cudaStream_t by value.
class CudaStream {
 public:
  CudaStream() {
    cudaStream_t raw = nullptr;
    cuda_check(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking));
    handle_.reset(raw);
  }
  cudaStream_t get() const noexcept { return handle_.get(); }
  void wait() const { cuda_check(cudaStreamSynchronize(get())); }

 private:
  struct Destroy {
    void operator()(cudaStream_t raw) const noexcept { (void)cudaStreamDestroy(raw); }  // must not throw
  };
  std::unique_ptr<CUstream_st, Destroy> handle_;
};

/// Owns one event. What a pipeline needs: order alone, a host that sleeps until the event, and times.
class CudaEvent {
 public:
  enum class Kind : unsigned {
    kOrder = cudaEventDisableTiming,
    kBlockingWait = cudaEventDisableTiming | cudaEventBlockingSync,  ///< wait() sleeps instead of spinning
    kTiming = cudaEventBlockingSync,                                 ///< likewise, with the time
    /// The time alone: nothing waits for it, so that it need not interrupt the host.
    kStamp = cudaEventDefault,
  };
  explicit CudaEvent(Kind kind) {
    cudaEvent_t raw = nullptr;
    cuda_check(cudaEventCreateWithFlags(&raw, static_cast<unsigned>(kind)));
    handle_.reset(raw);
  }
  cudaEvent_t get() const noexcept { return handle_.get(); }
  void record(cudaStream_t stream) { cuda_check(cudaEventRecord(get(), stream)); }
  /// Later work on `stream` starts after this event. The host does not wait. A never recorded event counts as done.
  void make_wait(cudaStream_t stream) const { cuda_check(cudaStreamWaitEvent(stream, get(), 0)); }
  /// Blocks the host.
  void wait() const { cuda_check(cudaEventSynchronize(get())); }
  /// Seconds on the device from `start` to this event; both have times and have passed.
  double seconds_since(const CudaEvent& start) const {
    float milliseconds = 0;
    cuda_check(cudaEventElapsedTime(&milliseconds, start.get(), get()));
    return milliseconds * 1e-3;
  }

 private:
  struct Destroy {
    void operator()(cudaEvent_t raw) const noexcept { (void)cudaEventDestroy(raw); }
  };
  std::unique_ptr<CUevent_st, Destroy> handle_;
};

struct CudaFree {
  void operator()(void* memory) const noexcept { (void)cudaFree(memory); }
};

/// Owns device memory for [count] values of T, uninitialised.
template <class T>
using DeviceArray = std::unique_ptr<T[], CudaFree>;

/// @param what  named in the error: "the graph"
/// @throws Error{kDeviceMemory} with the size
template <class T>
DeviceArray<T> make_device_array(std::size_t count, const char* what = "an array", Topic topic = Topic::kBatch) {
  const std::size_t bytes = count * sizeof(T);
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, bytes > 0 ? bytes : 1);
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    fail(ErrorKind::kDeviceMemory, "no room in GPU memory for " + std::string(what) + ", " + gigabytes(bytes), topic);
  }
  cuda_check(status);
  return DeviceArray<T>(static_cast<T*>(memory));
}

struct CudaFreeHost {
  void operator()(void* memory) const noexcept { (void)cudaFreeHost(memory); }
};

/// Owns pinned host memory for [count] values of T, uninitialised; every device can address it.
template <class T>
using PinnedArray = std::unique_ptr<T[], CudaFreeHost>;

/// @throws Error{kHostMemory}
template <class T>
PinnedArray<T> make_pinned_array(std::size_t count) {
  void* memory = nullptr;
  const cudaError_t status = cudaMallocHost(&memory, count * sizeof(T));
  if (status == cudaErrorMemoryAllocation) {
    (void)cudaGetLastError();
    fail(ErrorKind::kHostMemory, "cannot pin " + std::to_string(count * sizeof(T)) + " bytes of host memory");
  }
  cuda_check(status);
  return PinnedArray<T>(static_cast<T*>(memory));
}

}  // namespace salient
