// store/edge_hash.h - a number for a directed edge, so that sums tell multisets of edges apart.
#pragma once

#include <cstdint>

namespace salient {

/// A 64-bit value that depends on both ends and on the direction (finaliser of splitmix64). Equal sums over two lists
/// of edges mean the same multiset, but for a chance of 2^-64.
constexpr std::uint64_t hash_of_edge(std::uint64_t from, std::uint64_t to) {
  std::uint64_t x = from << 32 | to;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
  x = (x ^ x >> 27) * 0x94D049BB133111EB;
  return x ^ x >> 31;
}

}  // namespace salient
