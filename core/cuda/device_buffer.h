// core/cuda/device_buffer.h - device memory that grows and is reused, in the order of one stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/cuda/cuda.h"
#include "core/growth.h"

namespace salient {

/// Memory for values of T on the current device. It grows by with_growth() and never shrinks, so the first
/// batches of a run settle its size. Growing does not wait: what `stream` does later sees the new memory.
template <class T>
class DeviceBuffer {
 public:
  /// @param stream  all uses of the memory are on it; outlives the buffer.
  explicit DeviceBuffer(cudaStream_t stream) : stream_(stream) {}
  ~DeviceBuffer() { (void)cudaFreeAsync(data_, stream_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : stream_(other.stream_),
        data_(std::exchange(other.data_, nullptr)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  T* data() const { return data_; }

  /// At least `count` values of memory, of which the first `num_kept` are what they were.
  /// @throws Error{kDeviceMemory}
  T* reserve(std::size_t count, std::size_t num_kept = 0) {
    if (count <= capacity_) return data_;
    const std::size_t wanted = std::max<std::size_t>(with_growth(count), 256);
    if (num_kept == 0) release();  // not both at a time: what is needed at most is what is planned
    void* grown = nullptr;
    cuda_check(cudaMallocAsync(&grown, wanted * sizeof(T), stream_));
    if (num_kept > 0)
      cuda_check(cudaMemcpyAsync(grown, data_, num_kept * sizeof(T), cudaMemcpyDeviceToDevice, stream_));
    release();
    data_ = static_cast<T*>(grown);
    capacity_ = wanted;
    return data_;
  }

 private:
  void release() {
    capacity_ = 0;
    cuda_check(cudaFreeAsync(std::exchange(data_, nullptr), stream_));  // null is allowed
  }

  cudaStream_t stream_;
  T* data_ = nullptr;
  std::size_t capacity_ = 0;
};

}  // namespace salient
