// core/host/host_memory.h - where big arrays live, when that is not this process' own memory.
#pragma once

#include <cstddef>

namespace salient {

/// The pages that Linux grants on request for big arrays.
inline constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

/// A source of memory for UnsetHugeVector. Outlives what it gave.
class HostMemory {
 public:
  HostMemory() = default;
  virtual ~HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  /// @return `bytes` > 0 bytes of zeros, from a page border on.   @throws Error{kHostMemory}.
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void deallocate(void* memory) noexcept = 0;
};

}  // namespace salient
