// models/resident/peer_sums.cpp - see peer_sums.h.
#include "models/resident/peer_sums.h"

#include "core/error.h"

namespace salient {
namespace {

constexpr std::size_t kHeaderBytes = 256;  // num_sums, and room to be aligned

}  // namespace

std::size_t PeerSums::bytes(int num_ranks, std::int64_t num_values) {
  return kHeaderBytes + 2 * static_cast<std::size_t>(num_ranks * num_values) * sizeof(std::uint64_t);
}

PeerSums PeerSums::in(std::span<std::byte* const> memory, int rank, std::int64_t num_values,
                      const std::uint32_t* is_given_up) {
  require(memory.size() <= kMaxRanks, "at most 8 ranks sum in each other's memory");
  PeerSums sums{.rank = rank,
                .num_ranks = static_cast<int>(memory.size()),
                .num_values = num_values,
                .num_sums = reinterpret_cast<std::uint32_t*>(memory[static_cast<std::size_t>(rank)]),
                .is_given_up = is_given_up};
  for (std::size_t r = 0; r < memory.size(); ++r)
    sums.inboxes[r] = reinterpret_cast<std::uint64_t*>(memory[r] + kHeaderBytes);
  return sums;
}

}  // namespace salient
