// sampler/seed_dealing.cpp - see seed_dealing.h.
#include "sampler/seed_dealing.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

/// How many seeds each rank gets: as many as it owns, but within the bounds, and all together `size`.
std::vector<std::size_t> balanced(const std::vector<std::size_t>& owned, std::size_t size) {
  const int num_ranks = static_cast<int>(owned.size());
  const std::size_t least = smallest_owners_share(size, num_ranks),
                    most = largest_share(size, num_ranks, DealKind::kOwner);
  std::vector<std::size_t> shares;
  for (const std::size_t count : owned) shares.push_back(std::clamp(count, least, most));
  const std::size_t sum = std::accumulate(shares.begin(), shares.end(), std::size_t{0});
  std::size_t missing = size - std::min(size, sum), surplus = sum - std::min(size, sum);
  for (std::size_t& share : shares) {
    const std::size_t added = std::min(missing, most - share), removed = std::min(surplus, share - least);
    share = share + added - removed;
    missing -= added;
    surplus -= removed;
  }
  require(missing == 0 && surplus == 0, "shares within the bounds add up to the batch");
  return shares;
}

}  // namespace

std::size_t largest_share(std::size_t size, int num_ranks, DealKind deal) {
  const auto ranks = static_cast<std::size_t>(num_ranks);
  const std::size_t even = (size + ranks - 1) / ranks;
  return deal == DealKind::kEven ? even : std::max(even, 10 * size / (9 * ranks));
}

std::size_t smallest_owners_share(std::size_t size, int num_ranks) {
  const auto ranks = static_cast<std::size_t>(num_ranks);
  return std::min(size / ranks, (8 * size + 9 * ranks - 1) / (9 * ranks));
}

std::vector<std::size_t> deal_to_owners(std::span<NodeId> batch, std::span<const std::uint16_t> part_of, int num_parts,
                                        int num_ranks) {
  require(num_ranks >= 1 && num_parts >= num_ranks, "a part for every rank");
  const auto ranks = static_cast<std::size_t>(num_ranks), parts = static_cast<std::size_t>(num_parts);
  const auto owner_of = [&](NodeId seed) { return part_of[seed] * ranks / parts; };
  std::vector<std::size_t> owned(ranks);
  for (const NodeId seed : batch) ++owned[owner_of(seed)];
  const std::vector<std::size_t> shares = balanced(owned, batch.size());

  std::vector<std::vector<NodeId>> dealt(ranks);
  std::vector<NodeId> others;  // whose owners have enough
  for (const NodeId seed : batch) {
    const std::size_t owner = owner_of(seed);
    (dealt[owner].size() < shares[owner] ? dealt[owner] : others).push_back(seed);
  }
  std::vector<std::size_t> begin{0};
  std::size_t next = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    while (dealt[rank].size() < shares[rank]) dealt[rank].push_back(others[next++]);
    std::ranges::copy(dealt[rank], batch.begin() + static_cast<std::ptrdiff_t>(begin.back()));
    begin.push_back(begin.back() + shares[rank]);
  }
  return begin;
}

std::vector<NodeId> seeds_of_rank(std::span<const NodeId> seeds, std::span<const std::uint16_t> part_of, int num_parts,
                                  int rank, int num_ranks) {
  std::vector<NodeId> epoch(seeds.begin(), seeds.end());
  shuffle_seeds(epoch, /*seed=*/0, /*epoch=*/0);  // so that those left out are any
  const std::vector<std::size_t> begin = deal_to_owners(epoch, part_of, num_parts, num_ranks);
  const auto first = static_cast<std::size_t>(rank);
  epoch.resize(begin[first + 1]);
  epoch.erase(epoch.begin(), epoch.begin() + static_cast<std::ptrdiff_t>(begin[first]));
  return epoch;
}

}  // namespace salient
