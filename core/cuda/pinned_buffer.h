// core/cuda/pinned_buffer.h - pinned host memory that grows and is reused.
#pragma once

#include <cstddef>

#include "core/cuda/cuda.h"

namespace salient {

/// Pinned memory for values of T. It grows to what is asked for, without keeping the values, and never shrinks. Growing
/// pins anew, which takes milliseconds and waits for the device: where sizes vary, ask for more than is needed.
template <class T>
class PinnedBuffer {
 public:
  T* data() const { return memory_.get(); }
  std::size_t capacity() const { return capacity_; }

  /// At least `count` values of memory. Copies from or to the old memory are finished.
  /// @throws Error{kHostMemory}
  T* reserve(std::size_t count) {
    if (count <= capacity_) return data();
    capacity_ = 0;
    memory_.reset();  // before the new one is made: the two are never needed together
    memory_ = make_pinned_array<T>(count);
    capacity_ = count;
    return data();
  }

 private:
  PinnedArray<T> memory_{};
  std::size_t capacity_ = 0;
};

}  // namespace salient
