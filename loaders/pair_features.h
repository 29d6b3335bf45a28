// loaders/pair_features.h - what a batch of links knows of each pair beside the rows of its ends: their history.
#pragma once

#include <cstdint>
#include <span>

#include "core/types.h"

namespace salient {

/// Columns of a pair's features: ln(1 + how often the destination is among the kept neighbours of the source), the same
/// of the source among the destination's, ln(1 + how many neighbours they have in common, each as often as both have
/// it), and 1 / (1 + ln(1 + dt)), dt the time since the latest kept entry between them, 0 without one.
inline constexpr int kPairFeatures = 4;

/// The hop of a batch's seeds, whose rows have one entry for each kept neighbour.
struct SeedEntries {
  const LocalId* indptr = nullptr;        ///< [S + 1]
  const LocalId* indices = nullptr;       ///< numbers in `nodes`
  const std::int64_t* places = nullptr;   ///< as MfgHop::places
  std::span<const NodeId> nodes{};        ///< [N] their ids
  std::span<const std::int64_t> times{};  ///< [E] of the graph's entries
};

/// @param pairs       [P, 2] numbers of seeds    @param seed_times  [S]    @param out  [P, kPairFeatures]
/// Cost: sorts the neighbours of each seed, then a merge for each pair
/// Oracle: counting in tests/loaders/pair_features_test.cpp
void write_pair_features(const SeedEntries& entries, std::span<const LocalId> pairs,
                         std::span<const std::int64_t> seed_times, float* out);

}  // namespace salient
