// sampler/seed_order.h - which training seeds meet in which batch, and which rank works on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "sampler/draws.h"

namespace salient {

/// Shuffles `seeds`: a uniform permutation that depends on (seed, epoch) alone, so every rank computes the same one.
///
/// Cost:      one random swap per seed; 1.2 M seeds take about 10 ms.
/// Algorithm: Fisher and Yates from the last place down; the draws are those of Draws with a hop that no sampler uses.
/// Oracle:    tests/sampler/seed_order_test.cpp (chi-square over all orders of four).
void shuffle_seeds(std::span<NodeId> seeds, std::uint32_t seed, std::uint32_t epoch);

/// Part of an epoch, in seeds: from `begin` on, `count` of them, possibly none.
struct SeedRange {
  std::size_t begin = 0;
  std::size_t count = 0;
  bool operator==(const SeedRange&) const = default;
};

/// The number of global batches in an epoch, and so of steps on every rank; the last batch may be short.
std::size_t num_global_batches(std::size_t num_seeds, std::size_t global_batch_size);

/// Rank `rank` of `num_ranks`' share of global batch `batch`: contiguous, in rank order, sizes at most one apart. The
/// shares of all ranks are the batch; a short last batch is shared out as evenly, and may leave a rank with nothing.
SeedRange rank_share(std::size_t num_seeds, std::size_t global_batch_size, std::size_t batch, int rank, int num_ranks);

}  // namespace salient
