// store/index_permutation.h - a seeded shuffle of 0 .. n-1 that needs no memory: forward and back by computation.
//
// By hand: libraries for format-preserving encryption permute powers of two, or strings of digits.
#pragma once

#include <bit>
#include <cstdint>

#include "core/philox.h"

namespace salient {

/// A pseudo-random permutation of [0, size). Both directions cost about 15 ns and depend on (size, key, tag) alone.
///
/// Algorithm: an alternating Feistel network over a x 2^k >= size (Black, Rogaway, "Ciphers with arbitrary finite
///            domains", CT-RSA 2002); results outside [0, size), a share of about 1/sqrt(size), are sent through again.
class IndexPermutation {
 public:
  IndexPermutation() = default;
  IndexPermutation(std::uint64_t size, PhiloxKey key, std::uint32_t tag) : size_(size) {
    low_bits_ = static_cast<std::uint32_t>(std::bit_width(size) / 2);
    high_size_ = static_cast<std::uint32_t>((size >> low_bits_) + 1);
    for (std::uint32_t block = 0; block < 2; ++block) {
      const PhiloxBlock words = philox4x32(key, {{block, 0, 0, tag}});
      for (std::uint32_t i = 0; i < 3; ++i) round_key_[3 * block + i] = words.word[i];
    }
  }

  std::uint64_t size() const { return size_; }

  /// Where `index` < size goes, and where it came from.
  std::uint64_t operator()(std::uint64_t index) const {
    do index = forward(index);
    while (index >= size_);
    return index;
  }
  std::uint64_t inverse(std::uint64_t index) const {
    do index = backward(index);
    while (index >= size_);
    return index;
  }

 private:
  static constexpr int kRounds = 6;

  static std::uint32_t mixed(
      std::uint32_t x) {  // the upper half depends on every bit; one multiplication is enough here
    return static_cast<std::uint32_t>(x * 0x9E3779B97F4A7C15 >> 32);
  }
  std::uint32_t low_step(std::uint32_t high, int round) const {
    return mixed(high ^ round_key_[round]) & ((1U << low_bits_) - 1);
  }
  std::uint32_t high_step(std::uint32_t low, int round) const {
    return static_cast<std::uint32_t>(std::uint64_t{mixed(low ^ round_key_[round])} * high_size_ >> 32);
  }

  std::uint64_t forward(std::uint64_t index) const {
    auto high = static_cast<std::uint32_t>(index >> low_bits_);
    auto low = static_cast<std::uint32_t>(index) & ((1U << low_bits_) - 1);
    for (int round = 0; round < kRounds; round += 2) {
      low ^= low_step(high, round);
      const std::uint32_t step = high_step(low, round + 1), room = high_size_ - high;
      high = step < room ? high + step : step - room;  // (high + step) mod high_size
    }
    return std::uint64_t{high} << low_bits_ | low;
  }
  std::uint64_t backward(std::uint64_t index) const {
    auto high = static_cast<std::uint32_t>(index >> low_bits_);
    auto low = static_cast<std::uint32_t>(index) & ((1U << low_bits_) - 1);
    for (int round = kRounds - 2; round >= 0; round -= 2) {
      const std::uint32_t step = high_step(low, round + 1);
      high = step <= high ? high - step : high + (high_size_ - step);
      low ^= low_step(high, round);
    }
    return std::uint64_t{high} << low_bits_ | low;
  }

  std::uint64_t size_ = 0;
  std::uint32_t low_bits_ = 0, high_size_ = 1;
  std::uint32_t round_key_[kRounds] = {};
};

}  // namespace salient
