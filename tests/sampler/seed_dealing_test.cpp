// tests/sampler/seed_dealing_test.cpp - seeds go to their owners, as far as no rank gets many more than another.
#include "sampler/seed_dealing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <random>

#include "core/error.h"

namespace salient {
namespace {

struct Dealt {
  std::vector<NodeId> batch;
  std::vector<std::size_t> begin;
  std::span<const NodeId> share(int rank) const {
    const auto r = static_cast<std::size_t>(rank);
    return std::span(batch).subspan(begin[r], begin[r + 1] - begin[r]);
  }
};

Dealt deal(std::vector<NodeId> batch, const std::vector<std::uint16_t>& part_of, int num_parts, int num_ranks) {
  std::vector<std::size_t> begin = deal_to_owners(batch, part_of, num_parts, num_ranks);
  return {std::move(batch), std::move(begin)};
}

std::vector<NodeId> shuffled(std::size_t count, std::uint32_t seed) {
  std::vector<NodeId> batch(count);
  std::iota(batch.begin(), batch.end(), NodeId{0});
  std::shuffle(batch.begin(), batch.end(), std::mt19937(seed));
  return batch;
}

TEST(DealToOwners, EveryShareIsWithinTheBoundsAndAllAreTheBatch) {
  std::mt19937 random(1);
  for (const int num_ranks : {1, 2, 3, 8})
    for (const int num_parts : {8, 13})
      for (const std::size_t size : {0U, 1U, 7U, 40U, 1000U})
        for (const unsigned skew : {0U, 1U, 2U}) {  // none; half of all in part 0; all in the last
          std::vector<std::uint16_t> part_of(size);
          for (std::uint16_t& part : part_of) {
            part = static_cast<std::uint16_t>(random() % static_cast<unsigned>(num_parts));
            if (skew == 1 && random() % 2 == 0) part = 0;
            if (skew == 2) part = static_cast<std::uint16_t>(num_parts - 1);
          }
          const std::vector<NodeId> before = shuffled(size, 7);
          const Dealt dealt = deal(before, part_of, num_parts, num_ranks);
          ASSERT_EQ(dealt.begin.size(), static_cast<std::size_t>(num_ranks) + 1);
          ASSERT_EQ(dealt.begin.front(), 0U);
          ASSERT_EQ(dealt.begin.back(), size);
          EXPECT_TRUE(std::ranges::is_permutation(dealt.batch, before));
          std::size_t least = size, most = 0;
          for (int rank = 0; rank < num_ranks; ++rank) {
            least = std::min(least, dealt.share(rank).size());
            most = std::max(most, dealt.share(rank).size());
          }
          EXPECT_GE(least, smallest_owners_share(size, num_ranks));
          EXPECT_LE(most, largest_share(size, num_ranks, DealKind::kOwner));
          if (size >= 9 * static_cast<std::size_t>(num_ranks)) {
            EXPECT_LE(most, least * 5 / 4);
          }
          EXPECT_EQ(deal(before, part_of, num_parts, num_ranks).batch, dealt.batch);
        }
}

TEST(DealToOwners, SeedsOfBalancedPartsAllGoToTheirOwnersInTheirOrder) {
  const std::vector<NodeId> before = shuffled(400, 3);
  std::vector<std::uint16_t> part_of(400);
  for (std::size_t v = 0; v < 400; ++v) part_of[v] = static_cast<std::uint16_t>(v % 8);
  const Dealt dealt = deal(before, part_of, 8, 4);
  for (int rank = 0; rank < 4; ++rank) {
    std::vector<NodeId> own;
    std::ranges::copy_if(before, std::back_inserter(own), [&](NodeId v) { return part_of[v] / 2 == rank; });
    EXPECT_TRUE(std::ranges::equal(dealt.share(rank), own)) << rank;
  }
}

TEST(DealToOwners, AnOwnerOfTooManyKeepsTheFirst) {
  const std::vector<NodeId> before = shuffled(90, 5);
  std::vector<std::uint16_t> part_of(90);
  for (std::size_t v = 0; v < 60; ++v) part_of[v] = 1;
  const Dealt dealt = deal(before, part_of, 2, 2);
  EXPECT_EQ(dealt.share(1).size(), 50U) << "10/9 of 45";
  std::vector<NodeId> own;
  std::ranges::copy_if(before, std::back_inserter(own), [&](NodeId v) { return part_of[v] == 1; });
  EXPECT_TRUE(std::ranges::equal(dealt.share(1), std::span(own).first(50)));
  EXPECT_TRUE(std::ranges::equal(dealt.share(0).last(10), std::span(own).last(10)));
}

TEST(DealToOwners, NeedsAPartForEveryRank) {
  std::vector<NodeId> batch{0};
  EXPECT_THROW(deal_to_owners(batch, std::vector<std::uint16_t>{0}, 2, 3), Error);
}

/// 900 seeds, of which part 0 owns `in_first`, and part 1 the rest. @return those dealt to each of two ranks
std::array<std::vector<NodeId>, 2> dealt_to_two(NodeId in_first) {
  std::vector<std::uint16_t> part_of(1000);
  for (std::size_t v = in_first; v < part_of.size(); ++v) part_of[v] = 1;
  std::vector<NodeId> seeds(900);
  std::iota(seeds.begin(), seeds.end(), NodeId{0});
  return {seeds_of_rank(seeds, part_of, 2, 0, 2), seeds_of_rank(seeds, part_of, 2, 1, 2)};
}

TEST(SeedsOfRank, AreItsOwnWherePartsAreBalanced) {
  const auto dealt = dealt_to_two(440);
  EXPECT_EQ(dealt[0].size(), 440U);
  EXPECT_TRUE(std::ranges::all_of(dealt[0], [](NodeId seed) { return seed < 440; }));
  EXPECT_TRUE(std::ranges::all_of(dealt[1], [](NodeId seed) { return seed >= 440; }));
}

TEST(SeedsOfRank, OfAnOwnerOfFewAreOthersToo) {
  const auto dealt = dealt_to_two(90);
  EXPECT_EQ(dealt[0].size(), 400U) << "8/9 of 450";
  EXPECT_EQ(std::ranges::count_if(dealt[0], [](NodeId seed) { return seed < 90; }), 90);
  // Of the 810 others 310 are left out by their owner: they are any, not the last.
  const auto from_the_middle = std::ranges::count_if(dealt[0], [](NodeId seed) { return seed >= 90 && seed < 495; });
  EXPECT_GT(from_the_middle, 120);
  EXPECT_LT(from_the_middle, 190);
}

TEST(LargestShare, OfAnEvenDealIsTheMeanRoundedUp) {
  EXPECT_EQ(largest_share(10, 3, DealKind::kEven), 4U);
  EXPECT_EQ(largest_share(9, 3, DealKind::kEven), 3U);
  EXPECT_EQ(largest_share(90, 2, DealKind::kOwner), 50U);
  EXPECT_EQ(smallest_owners_share(90, 2), 40U);
  EXPECT_EQ(largest_share(3, 2, DealKind::kOwner), 2U);
  EXPECT_EQ(smallest_owners_share(3, 2), 1U);
}

}  // namespace
}  // namespace salient
