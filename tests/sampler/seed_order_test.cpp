// tests/sampler/seed_order_test.cpp - a shuffle is a uniform permutation; shares of ranks are a partition.
#include "sampler/seed_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

#include "core/error.h"

namespace salient {
namespace {

std::vector<NodeId> shuffled(std::size_t count, std::uint32_t seed, std::uint32_t epoch) {
  std::vector<NodeId> ids(count);
  std::iota(ids.begin(), ids.end(), 0u);
  shuffle_seeds(ids, seed, epoch);
  return ids;
}

/// The definition, written to be read: swap the last unsettled place with any place up to it.
std::vector<NodeId> shuffled_reference(std::size_t count, std::uint32_t seed, std::uint32_t epoch) {
  std::vector<NodeId> ids(count);
  std::iota(ids.begin(), ids.end(), 0u);
  for (std::size_t last = count; last-- > 1;) {
    const auto step = static_cast<std::uint32_t>(count - 1 - last);
    Draws draws({seed, epoch, 0}, 0xFFFFFFFF, step / 65536);
    std::swap(ids[last], ids[draws.below(step % 65536, static_cast<std::uint32_t>(last) + 1)]);
  }
  return ids;
}

TEST(SeedOrder, IsTheDocumentedPermutation) {
  for (const std::size_t count : {0u, 1u, 2u, 1000u, 65536u, 65537u, 65538u, 150'000u}) {
    std::vector<NodeId> ids = shuffled(count, 3, 4);
    ASSERT_EQ(ids, shuffled_reference(count, 3, 4)) << count;
    std::sort(ids.begin(), ids.end());
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(ids[i], i) << "every seed once";
  }
}

TEST(SeedOrder, DependsOnSeedAndEpoch) {
  EXPECT_EQ(shuffled(100, 1, 0), shuffled(100, 1, 0));
  EXPECT_NE(shuffled(100, 1, 0), shuffled(100, 1, 1));
  EXPECT_NE(shuffled(100, 1, 0), shuffled(100, 2, 0));
  EXPECT_NE(shuffled(100, 1, 2), shuffled(100, 2, 1));
}

TEST(SeedOrder, EveryOrderOfFourIsEquallyLikely) {
  constexpr std::uint32_t kEpochs = 24'000;
  std::map<std::vector<NodeId>, double> times_seen;
  for (std::uint32_t epoch = 0; epoch < kEpochs; ++epoch) times_seen[shuffled(4, 20260101, epoch)] += 1;
  ASSERT_EQ(times_seen.size(), 24u);
  double chi_square = 0;
  for (const auto& [order, seen] : times_seen) chi_square += (seen - 1000.0) * (seen - 1000.0) / 1000.0;
  EXPECT_LT(chi_square, 49.73);  // 99.9th percentile for 23 degrees of freedom; fixed keys, so no flakes
}

TEST(RankShare, SharesOfAllRanksAreTheBatchInOrderAndNearlyEqual) {
  for (const std::size_t num_seeds : {0u, 1u, 5u, 16u, 17u, 100u, 1023u})
    for (const std::size_t batch_size : {1u, 4u, 16u, 2000u})
      for (const int num_ranks : {1, 2, 3, 4, 7}) {
        std::size_t next = 0;
        for (std::size_t b = 0; b < num_global_batches(num_seeds, batch_size); ++b) {
          const std::size_t begin = next;
          std::size_t least = num_seeds, most = 0;
          for (int rank = 0; rank < num_ranks; ++rank) {
            const SeedRange share = rank_share(num_seeds, batch_size, b, rank, num_ranks);
            ASSERT_EQ(share.begin, next);
            next += share.count;
            least = std::min(least, share.count);
            most = std::max(most, share.count);
          }
          ASSERT_LE(most - least, 1u);
          ASSERT_EQ(next - begin, std::min(batch_size, num_seeds - begin));
        }
        ASSERT_EQ(next, num_seeds);
      }
}

TEST(RankShare, RefusesInputOutsideItsContract) {
  EXPECT_THROW(rank_share(10, 5, 2, 0, 1), Error);
  EXPECT_THROW(rank_share(10, 5, 0, 1, 1), Error);
  EXPECT_THROW(rank_share(10, 0, 0, 0, 1), Error);
}

}  // namespace
}  // namespace salient
