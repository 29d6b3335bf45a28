// loaders/host_slab.h - the host memory of one batch: grows, never shrinks, and is pinned on request.
#pragma once

#include <cstddef>
#include <memory>

namespace salient {

/// Makes host memory reachable for a device's copy engine. The CUDA build has one (loaders/device_ring.h).
class PagePinner {
 public:
  PagePinner() = default;
  virtual ~PagePinner() = default;
  PagePinner(const PagePinner&) = delete;
  PagePinner& operator=(const PagePinner&) = delete;

  /// @throws Error{kHostMemory} if the system refuses.
  virtual void pin(std::byte* memory, std::size_t bytes) = 0;
  virtual void unpin(std::byte* memory) noexcept = 0;
};

/// Aligned to 2 MiB and, where the system grants it, in huge pages: cheap to pin and to stream into.
class HostSlab {
 public:
  /// @param pinner  outlives the slab; null = ordinary memory.
  explicit HostSlab(PagePinner* pinner = nullptr) : memory_(nullptr, Free{pinner}) {}

  /// At least `bytes` of memory. If it has to grow, it grows by with_growth() and loses its content.
  /// @throws std::bad_alloc, and as PagePinner::pin().
  std::byte* reserve(std::size_t bytes);

  std::byte* data() const { return memory_.get(); }
  std::size_t capacity() const { return capacity_; }

 private:
  struct Free {
    PagePinner* pinner;
    void operator()(std::byte* memory) const noexcept;
  };
  std::unique_ptr<std::byte, Free> memory_;
  std::size_t capacity_ = 0;
};

}  // namespace salient
