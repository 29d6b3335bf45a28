// core/host/huge_vector.h - std::vector for big arrays that are read at random: asks for 2 MiB pages.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/host/host_memory.h"

namespace salient {

/// With 4 KiB pages almost every random read of a large array also misses the TLB. Linux grants huge pages on request
/// to anonymous memory (transparent_hugepage = madvise or always), not to mapped files: copy a hot graph into memory.
template <class T>
struct HugePageAllocator {
  using value_type = T;
  HugePageAllocator() = default;
  template <class U>
  HugePageAllocator(const HugePageAllocator<U>&) {}

  T* allocate(std::size_t count) {
    const std::size_t bytes = count * sizeof(T);
    if (bytes < kHugePageBytes) return static_cast<T*>(::operator new(bytes));
    void* const memory = ::operator new ((bytes + kHugePageBytes - 1) / kHugePageBytes * kHugePageBytes,
                                         std::align_val_t{kHugePageBytes});
    (void)madvise(memory, bytes, MADV_HUGEPAGE);  // a hint: without it everything works, slower
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (count * sizeof(T) < kHugePageBytes) return ::operator delete(memory);
    ::operator delete (memory, std::align_val_t{kHugePageBytes});
  }
  bool operator==(const HugePageAllocator&) const = default;
};

template <class T>
using HugeVector = std::vector<T, HugePageAllocator<T>>;

/// As HugePageAllocator, but resize() leaves new elements unset, so that the thread that fills them is the first to
/// touch their pages. The memory may come from elsewhere.
template <class T>
struct UnsetHugePageAllocator : HugePageAllocator<T> {
  template <class U>
  struct rebind {  // NOLINT(readability-identifier-naming): the standard's name
    using other = UnsetHugePageAllocator<U>;
  };
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::false_type;

  UnsetHugePageAllocator() = default;
  /// @param source  outlives the vector; null = this process' own memory.
  explicit UnsetHugePageAllocator(HostMemory* source) : memory(source) {}
  template <class U>
  UnsetHugePageAllocator(const UnsetHugePageAllocator<U>& other) : memory(other.memory) {}

  T* allocate(std::size_t count) {
    if (memory == nullptr || count == 0) return HugePageAllocator<T>::allocate(count);
    return static_cast<T*>(memory->allocate(count * sizeof(T)));
  }
  void deallocate(T* values, std::size_t count) noexcept {
    if (memory == nullptr || count == 0) return HugePageAllocator<T>::deallocate(values, count);
    memory->deallocate(values);
  }
  bool operator==(const UnsetHugePageAllocator&) const = default;

  HostMemory* memory = nullptr;

  template <class U>
  void construct(U* place) noexcept {
    ::new (static_cast<void*>(place)) U;
  }
  template <class U, class... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

/// For big arrays that are sized first and filled in parallel.
template <class T>
using UnsetHugeVector = std::vector<T, UnsetHugePageAllocator<T>>;

}  // namespace salient
