// models/resident/peer_sums.h - sums over the GPUs of one host inside a kernel: every rank writes its values into the
// memory of all others and adds up what arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/describe/resident_limits.h"

namespace salient {

/// One rank's end. All ranks sum the same values in the same order of launches, and a launch with peers ends when those
/// of all others have written their values. All its blocks must be resident at once, since blocks that wait for other
/// ranks keep their room.
///
/// A value travels as a word of 8 bytes, its bits and the number of the sum, which says that it has arrived. Sums of
/// odd and even number have a place each: a rank is at most one sum ahead of another.
struct PeerSums {
  static constexpr int kMaxRanks = kMaxSummingRanks;

  int rank = 0;
  int num_ranks = 1;
  std::int64_t num_values = 0;                 ///< of a step
  std::uint64_t* inboxes[kMaxRanks] = {};      ///< of each rank, [2, num_ranks, num_values] words
  std::uint32_t* num_sums = nullptr;           ///< [1] device, this rank's: done so far
  const std::uint32_t* is_given_up = nullptr;  ///< [1] pinned: not 0 = end without the others' values

  /// Bytes of GPU memory of each rank; zero before the first sum.
  static std::size_t bytes(int num_ranks, std::int64_t num_values);

  /// @param memory  [num_ranks] of bytes() each, as this rank addresses them
  static PeerSums in(std::span<std::byte* const> memory, int rank, std::int64_t num_values,
                     const std::uint32_t* is_given_up);
};

}  // namespace salient
