// engine/device/block_cache.cpp - see block_cache.h.
#include "engine/device/block_cache.h"

#include <algorithm>
#include <bit>
#include <new>

namespace salient {
namespace {

/// Sizes of batches differ a little from step to step: those that are equal in four leading bits are one size.
std::size_t rounded_up(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 16, 1);
  return (bytes + step - 1) / step * step;
}

}  // namespace

BlockCache::Block BlockCache::take(std::size_t bytes) {
  const std::size_t capacity = rounded_up(bytes);
  const std::lock_guard lock(mutex_);
  const auto fits = [&](const Block& block) {
    return block.capacity >= capacity && block.capacity - capacity <= bytes / 16;
  };
  const auto last = std::find_if(kept_.rbegin(), kept_.rend(), fits);  // the one that caches are likeliest to have
  Block block{};
  if (last != kept_.rend()) {
    block = *last;
    kept_.erase(std::next(last).base());
    bytes_kept_ -= block.capacity;
  } else {
    block = made(capacity);
  }
  in_use_ += block.capacity;
  most_in_use_ = std::max(most_in_use_, in_use_);
  drop_beyond_limit();
  return block;
}

void BlockCache::give_back(const Block& block) noexcept {
  const std::lock_guard lock(mutex_);
  in_use_ -= block.capacity;
  try {
    kept_.push_back(block);
    bytes_kept_ += block.capacity;
  } catch (const std::bad_alloc&) {
    source_.free(block.data, block.capacity);
  }
  drop_beyond_limit();
}

void BlockCache::drop_all() {
  const std::lock_guard lock(mutex_);
  for (const Block& block : kept_) source_.free(block.data, block.capacity);
  kept_.clear();
  bytes_kept_ = 0;
}

BlockCache::Block BlockCache::made(std::size_t capacity) {
  try {
    return {source_.make(capacity), capacity};
  } catch (...) {
    if (kept_.empty()) throw;
  }
  for (const Block& block : kept_) source_.free(block.data, block.capacity);
  kept_.clear();
  bytes_kept_ = 0;
  return {source_.make(capacity), capacity};
}

void BlockCache::drop_beyond_limit() {
  const std::size_t limit = most_in_use_ + most_in_use_ / 4;
  auto first = kept_.begin();
  for (; first != kept_.end() && in_use_ + bytes_kept_ > limit; ++first) {
    bytes_kept_ -= first->capacity;
    source_.free(first->data, first->capacity);
  }
  kept_.erase(kept_.begin(), first);
}

}  // namespace salient
