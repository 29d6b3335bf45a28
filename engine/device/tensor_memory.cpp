// engine/device/tensor_memory.cpp - see tensor_memory.h.
#include "engine/device/tensor_memory.h"

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

#include <cstddef>
#include <new>

#include "core/host/huge_vector.h"
#include "engine/device/block_cache.h"

namespace salient {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
constexpr std::size_t kHeaderBytes = 64;  // LibTorch's alignment

/// Of huge pages, but for the rest behind the last whole one. With small pages, the cores that fill a block ask the
/// kernel for one page at a time, all at once.
void* make_block(std::size_t bytes) {
  return bytes < kHugePageBytes ? c10::alloc_cpu(bytes) : HugePageAllocator<std::byte>().allocate(bytes);
}
void free_block(void* block, std::size_t bytes) {
  if (bytes < kHugePageBytes)
    c10::free_cpu(block);
  else
    HugePageAllocator<std::byte>().deallocate(static_cast<std::byte*>(block), bytes);
}

/// Each block begins with what give_back() needs, so that a pointer to a tensor's data says it all.
class CachingAllocator final : public c10::Allocator {
 public:
  CachingAllocator() : cache_({make_block, free_block}) {}

  c10::DataPtr allocate(std::size_t bytes) override {
    const std::size_t all = bytes + kHeaderBytes;
    const BlockCache::Block block = bytes < kLeastBytes ? BlockCache::Block{c10::alloc_cpu(all), 0} : cache_.take(all);
    ::new (block.data) Header{block, this};
    void* const values = static_cast<std::byte*>(block.data) + kHeaderBytes;
    return {values, values, release, c10::Device(c10::DeviceType::CPU)};
  }

  c10::DeleterFnPtr raw_deleter() const override { return release; }

  void copy_data(void* to, const void* from, std::size_t bytes) const override { default_copy_data(to, from, bytes); }

 private:
  struct Header {
    BlockCache::Block block;  ///< capacity 0: not of the cache
    CachingAllocator* owner;
  };
  static_assert(sizeof(Header) <= kHeaderBytes);

  static void release(void* values) {
    if (values == nullptr) return;
    const Header header = *reinterpret_cast<Header*>(static_cast<std::byte*>(values) - kHeaderBytes);
    if (header.block.capacity == 0)
      c10::free_cpu(header.block.data);
    else
      header.owner->cache_.give_back(header.block);
  }

  BlockCache cache_;
};

}  // namespace

void reuse_tensor_memory() {
  static CachingAllocator* const allocator = new CachingAllocator;  // tensors may be freed after main()
  c10::SetCPUAllocator(allocator, /*priority=*/1);
}

}  // namespace salient
