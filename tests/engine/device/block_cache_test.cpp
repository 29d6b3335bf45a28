// tests/engine/device/block_cache_test.cpp - which blocks are kept, and how much memory that is.
#include "engine/device/block_cache.h"

#include <gtest/gtest.h>

#include <map>
#include <new>
#include <thread>
#include <vector>

namespace salient {
namespace {

/// Memory of which `limit` bytes exist.
struct Memory {
  explicit Memory(std::size_t bytes) : limit(bytes) {}
  ~Memory() { EXPECT_TRUE(blocks.empty()) << "all of it went back"; }

  BlockCache::Source source() {
    return {[this](std::size_t bytes) {
              if (in_use + bytes > limit) throw std::bad_alloc();
              void* const block = ::operator new(bytes);
              blocks[block] = bytes;
              in_use += bytes;
              ++num_made;
              return block;
            },
            [this](void* block, std::size_t bytes) {
              EXPECT_EQ(bytes, blocks.at(block));
              in_use -= bytes;
              blocks.erase(block);
              ::operator delete(block);
            }};
  }

  std::size_t limit, in_use = 0;
  int num_made = 0;
  std::map<void*, std::size_t> blocks{};
};

constexpr std::size_t kUnit = 1 << 20;

TEST(BlockCache, TheSecondStepTakesTheBlocksOfTheFirst) {
  Memory memory(1000 * kUnit);
  BlockCache cache(memory.source());
  for (std::size_t step = 0; step < 5; ++step) {
    std::vector<BlockCache::Block> blocks;
    for (const std::size_t units : {100u, 60u, 60u, 7u}) blocks.push_back(cache.take(units * kUnit - step * 1000));
    for (const BlockCache::Block& block : blocks) cache.give_back(block);
  }
  EXPECT_EQ(memory.num_made, 4) << "sizes that differ by a thousandth are one";
}

TEST(BlockCache, CapacityIsWhatWasAskedForAndAtMostAnEighthMore) {
  Memory memory(1000 * kUnit);
  BlockCache cache(memory.source());
  for (std::size_t bytes = kUnit; bytes < 20 * kUnit; bytes += kUnit / 3 + 1) {
    const BlockCache::Block block = cache.take(bytes);
    EXPECT_GE(block.capacity, bytes);
    EXPECT_LE(block.capacity, bytes + bytes / 8);
    EXPECT_GE(memory.blocks.at(block.data), block.capacity);
    cache.give_back(block);
  }
}

TEST(BlockCache, TakesAQuarterMoreThanTheMostInUse) {
  Memory memory(1000 * kUnit);
  BlockCache cache(memory.source());
  std::size_t most = 0, in_use = 0;
  std::vector<BlockCache::Block> blocks;
  for (int step = 1; step < 200; ++step) {
    if (step % 3 == 0 && !blocks.empty()) {
      in_use -= blocks.front().capacity;
      cache.give_back(blocks.front());
      blocks.erase(blocks.begin());
    }
    if (step % 50 == 0) {
      for (const BlockCache::Block& block : blocks) cache.give_back(block);
      blocks.clear();
      in_use = 0;
    }
    blocks.push_back(cache.take(static_cast<std::size_t>(step * 37 % 11 + 1) * kUnit / 2));
    in_use += blocks.back().capacity;
    most = std::max(most, in_use);
    ASSERT_LE(memory.in_use, most + most / 4);
  }
  for (const BlockCache::Block& block : blocks) cache.give_back(block);
}

TEST(BlockCache, GivesUpWhatItKeepsBeforeItFails) {
  Memory memory(100 * kUnit);
  BlockCache cache(memory.source());
  const BlockCache::Block first = cache.take(48 * kUnit), second = cache.take(48 * kUnit);
  cache.give_back(first);
  cache.give_back(second);
  const BlockCache::Block large = cache.take(90 * kUnit);
  EXPECT_EQ(memory.in_use, large.capacity);
  EXPECT_THROW(cache.take(48 * kUnit), std::bad_alloc);
  cache.give_back(large);
}

TEST(BlockCache, ThreadsNeverShareABlock) {
  Memory memory(1000 * kUnit);
  BlockCache cache(memory.source());
  std::vector<std::thread> threads;
  for (int number = 0; number < 4; ++number)
    threads.emplace_back([&cache, number] {
      for (int step = 0; step < 300; ++step) {
        const BlockCache::Block block = cache.take(4096);
        auto* const value = static_cast<volatile int*>(block.data);
        *value = number;
        std::this_thread::yield();
        EXPECT_EQ(*value, number);
        cache.give_back(block);
      }
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace salient
