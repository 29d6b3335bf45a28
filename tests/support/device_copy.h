// tests/support/device_copy.h - host vectors to device memory and back, on the stream of the kernel under test.
#pragma once

#include <vector>

#include "core/cuda/cuda.h"

namespace salient::test {

/// A copy of `values` that starts `offset` values into its allocation: alignment is then that of one value.
template <class T>
class OnDevice {
 public:
  OnDevice(const std::vector<T>& values, const CudaStream& stream, std::size_t offset = 0)
      : size_(values.size()), offset_(offset), memory_(make_device_array<T>(size_ + offset + 1)) {
    // On the kernel's own stream: a plain cudaMemcpy from pageable memory may return before the device has the data.
    cuda_check(cudaMemcpyAsync(get(), values.data(), size_ * sizeof(T), cudaMemcpyDefault, stream.get()));
  }
  T* get() const { return memory_.get() + offset_; }

  std::vector<T> read(const CudaStream& stream) const {
    std::vector<T> values(size_);
    cuda_check(cudaMemcpyAsync(values.data(), get(), size_ * sizeof(T), cudaMemcpyDefault, stream.get()));
    stream.wait();
    return values;
  }

 private:
  std::size_t size_, offset_;
  DeviceArray<T> memory_;
};

}  // namespace salient::test
