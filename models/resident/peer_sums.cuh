// models/resident/peer_sums.cuh - see peer_sums.h: what a kernel calls.
#pragma once

#include "core/cuda/device_attribute.h"
#include "models/resident/peer_sums.h"

namespace salient {

inline constexpr int kBlocksWithPeers = 6;  ///< of kThreadsPerBlock, that fit on a multiprocessor

/// Blocks of a launch with peers at most: all of them must be resident at once.
inline unsigned most_blocks_with_peers() {
  return static_cast<unsigned>(kBlocksWithPeers * device_attribute(cudaDevAttrMultiProcessorCount));
}

/// The sum that a launch takes part in.
class PeerSum {
 public:
  /// @param peers  a kernel's argument, read where it is
  __device__ explicit PeerSum(const PeerSums& peers) : peers_(peers), number_(*peers.num_sums + 1) {}

  /// Sends this rank's part of value `i` to all ranks, itself too.
  __device__ void send(std::int64_t i, float part) const {
    const std::uint64_t word = std::uint64_t{number_} << 32 | __float_as_uint(part);
    for (int r = 0; r < peers_.num_ranks; ++r)
      asm volatile("st.relaxed.sys.global.u64 [%0], %1;" ::"l"(peers_.inboxes[r] + place(peers_.rank, i)), "l"(word));
  }

  /// The sum of value `i`, the parts in the order of ranks; waits for them. Not a number once the ranks gave up.
  __device__ float receive(std::int64_t i) const {
    float sum = 0;
    for (int r = 0; r < peers_.num_ranks; ++r) sum += part(peers_.inboxes[peers_.rank] + place(r, i));
    return sum;
  }

  /// By one thread, when no other will send or receive: the next launch is of the next sum.
  __device__ void end() const { *peers_.num_sums = number_; }

 private:
  __device__ std::int64_t place(int sender, std::int64_t i) const {
    return ((number_ & 1) * peers_.num_ranks + sender) * peers_.num_values + i;
  }
  __device__ float part(const std::uint64_t* at) const {
    constexpr unsigned kLooksBetween = 4096;  // at host memory
    for (unsigned looks = 1;; ++looks) {
      std::uint64_t word;
      asm volatile("ld.relaxed.sys.global.u64 %0, [%1];" : "=l"(word) : "l"(at));
      if (static_cast<std::uint32_t>(word >> 32) == number_) return __uint_as_float(static_cast<unsigned>(word));
      if (looks % kLooksBetween == 0 && *static_cast<const volatile std::uint32_t*>(peers_.is_given_up) != 0)
        return __int_as_float(0x7fffffff);
    }
  }

  const PeerSums& peers_;
  const std::uint32_t number_;
};

}  // namespace salient
