// prepare/importers/memory_limit.h - how much memory preparation may keep resident.
#pragma once

#include <cstdint>
#include <string>

namespace salient {

/// Asked before each table is made: by importers that hold a graph in memory, and by what builds the store of it.
class MemoryLimit {
 public:
  MemoryLimit() = default;  ///< none
  explicit MemoryLimit(std::uint64_t bytes) : bytes_(bytes) {}

  /// @param more  bytes that `what` is about to take on top of what this process has resident now
  /// @throws Error{kHostMemory, kPrepareMemory} if that is too much, before it is taken
  void check(std::uint64_t more, const std::string& what) const;

  /// How many of `num_threads` (0 = all cores) may parse text at a time: their blocks take a quarter at most.
  int num_parsers(int num_threads) const;

 private:
  std::uint64_t bytes_ = 0;  ///< 0 = no limit
};

}  // namespace salient
