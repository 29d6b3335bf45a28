// core/philox.h - counter-based random numbers: a pure function of (key, counter), with no state to share.
//
// Nothing is advanced, so any thread, rank or GPU lane can compute any draw, in any order, and gets the same bits.
// All randomness of a run comes from here; that is why results never depend on how the work was split.
// By hand: Random123 has neither constexpr nor the form of eight lanes in sampler/draw_lanes.h.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define SALIENT_HOST_DEVICE __host__ __device__
#else
#define SALIENT_HOST_DEVICE
#endif

namespace salient {

struct PhiloxKey {
  std::uint32_t word[2];
};

struct PhiloxBlock {
  std::uint32_t word[4];
  bool operator==(const PhiloxBlock&) const = default;
};

/// Philox4x32-10: 128 random bits for one (key, counter) pair.
///
/// Cost:      20 multiplications; about 25 cycles a block when independent calls overlap.
/// Algorithm: Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
/// Oracle:    the known-answer vectors published with Random123, in tests/core/philox_test.cpp.
SALIENT_HOST_DEVICE constexpr PhiloxBlock philox4x32(PhiloxKey key, PhiloxBlock counter) {
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter.word[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ key.word[0], static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ key.word[1], static_cast<std::uint32_t>(a)};
    key.word[0] += 0x9E3779B9;  // 2^32 / golden ratio
    key.word[1] += 0xBB67AE85;  // 2^32 * (sqrt(3) - 1)
  }
  return counter;
}

}  // namespace salient
