// loaders/host_slab.cpp - see host_slab.h.
#include "loaders/host_slab.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "core/growth.h"
#include "core/host/host_memory.h"

namespace salient {

void HostSlab::Free::operator()(std::byte* memory) const noexcept {
  if (pinner != nullptr) pinner->unpin(memory);
  std::free(memory);
}

std::byte* HostSlab::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return data();
  const std::size_t wanted = (with_growth(bytes) + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes;
  PagePinner* const pinner = memory_.get_deleter().pinner;
  capacity_ = 0;
  memory_.reset();  // before the new one is made: the two are never needed together

  void* const memory = std::aligned_alloc(kHugePageBytes, wanted);
  if (memory == nullptr) throw std::bad_alloc();
  (void)madvise(memory, wanted, MADV_HUGEPAGE);  // a hint: without it everything works, slower
  std::unique_ptr<void, void (*)(void*)> unpinned(memory, std::free);
  if (pinner != nullptr) pinner->pin(static_cast<std::byte*>(memory), wanted);
  memory_.reset(static_cast<std::byte*>(unpinned.release()));
  capacity_ = wanted;
  return data();
}

}  // namespace salient
