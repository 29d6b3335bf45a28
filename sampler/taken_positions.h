// sampler/taken_positions.h - which positions of a row are drawn already, where a row keeps many.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace salient {

/// Open-addressing hash set that keeps its memory from row to row: 8 to 16 bytes for each position, in the first cache
/// for fanouts up to 2000.
class TakenPositions {
 public:
  /// Forgets all. @param count  the most positions that are added next
  void clear(std::uint32_t count) {
    const std::size_t num_slots = std::bit_ceil(std::size_t{2} * count);
    slots_.assign(num_slots, kFree);
    shift_ = 32 - std::countr_zero(num_slots);
  }

  /// @param position  below 2^32 - 1   @return  whether it was not there
  bool add(std::uint32_t position) {
    std::size_t slot = (position * 0x9E3779B1u) >> shift_;  // Fibonacci hashing: the high bits are good
    while (slots_[slot] != kFree) {
      if (slots_[slot] == position) return false;
      slot = (slot + 1) & (slots_.size() - 1);
    }
    slots_[slot] = position;
    return true;
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;

  std::vector<std::uint32_t> slots_;
  int shift_ = 0;
};

}  // namespace salient
