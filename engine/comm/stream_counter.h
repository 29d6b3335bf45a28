// engine/comm/stream_counter.h - a number in host memory that a CUDA stream sets as it advances.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"

namespace salient {

/// For a thread that watches a GPU that may be stuck: reading is a load from memory. CUDA's calls that query an event
/// may block themselves, behind another thread whose launch finds the GPU's queue full.
class StreamCounter {
 public:
  /// Starts at 0. On the current device.
  StreamCounter();

  /// Once `stream` has done all that is enqueued so far, value() is `value`. Costs the stream about a microsecond.
  void set_when_done(std::uint32_t value, cudaStream_t stream);

  /// Any thread, at any time.
  std::uint32_t value() const;

 private:
  PinnedArray<std::uint32_t> number_ = make_pinned_array<std::uint32_t>(1);
};

}  // namespace salient
