// engine/device/block_cache.h - freed blocks of memory, kept for the next one of about the same size; torch-free.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <vector>

namespace salient {

/// Blocks in use and blocks kept take together at most a quarter more than the most that was ever in use at one time:
/// beyond that the blocks that were freed first go back. With less room a step frees what its next part asks for, as
/// the sizes of a step's parts differ. Any thread may call any function.
class BlockCache {
 public:
  struct Source {
    std::function<void*(std::size_t bytes)> make;  ///< may throw
    std::function<void(void* block, std::size_t bytes)> free;
  };
  struct Block {
    void* data;
    std::size_t capacity;  ///< bytes, at least those asked for and at most an eighth more
  };

  explicit BlockCache(Source source) : source_(std::move(source)) {}
  ~BlockCache() { drop_all(); }
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// @throws what `make` throws when nothing is kept any more.
  Block take(std::size_t bytes);
  void give_back(const Block& block) noexcept;
  void drop_all();

 private:
  Block made(std::size_t capacity);
  void drop_beyond_limit();

  const Source source_;
  std::mutex mutex_;
  std::vector<Block> kept_;  ///< in the order in which they were freed
  std::size_t in_use_ = 0, most_in_use_ = 0, bytes_kept_ = 0;
};

}  // namespace salient
