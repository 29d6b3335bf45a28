// sampler/exclusion_memory.h - what a batch must not see, found on the GPU: from keys to DeviceExclusions. No nvcc.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "sampler/device_exclusions.h"

namespace salient {

/// Parts of one piece of device memory, for the keys of a batch at a time.
struct ExclusionMemory {
  std::uint32_t count = 0;          ///< of keys
  EntryKey* keys = nullptr;         ///< [count] in any order; kNoEntry excludes nothing
  EntryKey* sorted = nullptr;       ///< [count]
  std::uint32_t* first = nullptr;   ///< [count]
  std::uint32_t* before = nullptr;  ///< [count + 1]
  DeviceExclusions::Slot* slots = nullptr;
  int log_size = 0;
  std::byte* scratch = nullptr;
  std::size_t scratch_bytes = 0;

  /// What place() takes. Asks the current device.
  static std::size_t bytes(std::uint32_t count);
  /// The most that these are, for a plan. Needs no GPU.
  static constexpr std::int64_t planned_bytes(std::int64_t count) { return count * 96 + (std::int64_t{2} << 20); }
  /// @param memory  [bytes(count)], aligned to 256
  static ExclusionMemory place(std::byte* memory, std::uint32_t count);

  DeviceExclusions view() const { return {slots, log_size, first, before}; }
};

/// From `keys` to view(). Enqueues and returns; the same launches for every batch of as many keys, so it can be
/// captured.
/// @param graph   whose rows ascend by neighbour, fewer than 2^32 - 1
/// Cost:  a sort of the keys, and two binary searches in a row for each.
/// Oracle: Exclusions, in tests/sampler/device_exclusions_test.cpp and device_exclusions_gpu_test.cpp.
void find_exclusions(const DeviceCsr& graph, const ExclusionMemory& memory, cudaStream_t stream);

}  // namespace salient
