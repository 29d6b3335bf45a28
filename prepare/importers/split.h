// prepare/importers/split.h - the seeded order and the seeded split, the same on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"

namespace salient {

inline constexpr std::uint32_t kOrderTag = 0x4F524452;  ///< "ORDR": node order
inline constexpr std::uint32_t kSplitTag = 0x53504C54;  ///< "SPLT": train, valid, test
inline constexpr std::uint8_t kNoPart = 3;              ///< of a link that has no part yet, behind kTestLinks

/// The items 0 .. count - 1 in the order of (key(i), i), where key(i) = x0 * 2^32 + x1 of
/// Philox4x32-10(counter (i, 0, 0, tag), key (low, high half of seed)).
///
/// Determinism: a function of the three arguments. Cost: O(count log count) on all cores; 16 bytes per item.
std::vector<NodeId> items_by_key(std::size_t count, std::uint64_t seed, std::uint32_t tag);

/// The inverse: item i gets number permutation[i], its rank in items_by_key(). With kOrderTag: old id -> new id.
std::vector<NodeId> permutation_by_key(std::size_t count, std::uint64_t seed, std::uint32_t tag);

struct Split {
  std::vector<NodeId> train{}, valid{}, test{};
};

/// @param ends  ascending, of part_ends() or moved from there
Split parts_of(std::span<const NodeId> items, const std::array<std::size_t, 3>& ends);

/// None is negative or not a number, and their sum is at most 1.
bool are_fractions(std::span<const double, 3> parts);

/// Where the three parts of `count` items end, each at most `count`. Part 0 has floor(fractions[0] * count), part 1 the
/// next floor(fractions[1] * count), part 2 the rest, which is cut at floor(fractions[2] * count) when the fractions
/// leave a part, and is part 1's when fractions[2] is 0. @param fractions  are_fractions()
std::array<std::size_t, 3> part_ends(std::size_t count, std::array<double, 3> fractions);

/// Train, valid and test are the part_ends() of items_by_key(V, seed, kSplitTag).
/// An importer that renumbers nodes splits its own numbering and passes the ids through its permutation.
///
/// @param fractions  are_fractions()
Split split(std::size_t num_nodes, std::array<double, 3> fractions, std::uint64_t seed);

}  // namespace salient
