// tests/prepare/importers/split_test.cpp - the published order and split of WordNet's synsets, and their rules.
#include "prepare/importers/split.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <numeric>

#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr std::size_t kSynsets = 117659;

TEST(Split, NumbersTheFirstSynsetsAsPublished) {
  const std::vector<NodeId> id_of = permutation_by_key(kSynsets, 0, kOrderTag);
  EXPECT_EQ(std::vector(id_of.begin(), id_of.begin() + 5), (std::vector<NodeId>{87312, 21488, 94721, 24854, 28601}));
}

TEST(Split, CutsWordNetAsPublished) {
  const Split parts = split(kSynsets, {0.6, 0.2, 0.2}, 0);
  EXPECT_EQ(parts.train.size(), 70595u);
  EXPECT_EQ(parts.valid.size(), 23531u);
  EXPECT_EQ(parts.test.size(), 23533u);
  EXPECT_EQ(std::vector(parts.train.begin(), parts.train.begin() + 5),
            (std::vector<NodeId>{76081, 26341, 41164, 70385, 36163}));
}

TEST(Split, PutsEveryNodeIntoOnePart) {
  for (const std::size_t count : {0u, 1u, 2u, 9u, 1000u}) {
    const Split parts = split(count, {0.5, 0.25, 0.25}, 7);
    std::vector<NodeId> all = parts.train;
    all.insert(all.end(), parts.valid.begin(), parts.valid.end());
    all.insert(all.end(), parts.test.begin(), parts.test.end());
    std::sort(all.begin(), all.end());
    std::vector<NodeId> expected(count);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
  }
  EXPECT_NE(split(1000, {0.5, 0.25, 0.25}, 7).train, split(1000, {0.5, 0.25, 0.25}, 7 + (1ULL << 32)).train)
      << "all 64 bits of the seed count";
}

TEST(Split, TakesFractionsAsTyped) {
  EXPECT_EQ(split(100, {0.29, 0.01, 0.7}, 0).train.size(), 29u) << "0.29 * 100 is below 29 in doubles";
  EXPECT_EQ(split(100, {0.1, 0.1, 0.1}, 0).test.size(), 10u) << "a part may be left out";
  EXPECT_EQ(split(7, {0.6, 0.2, 0.2}, 0).test.size(), 2u) << "4, 1, and the rest";
  EXPECT_EQ(split(3, {0.5, 0.5, 0}, 0).valid.size(), 2u) << "the rest goes to no part of 0";
  EXPECT_TRUE(split(3, {0.5, 0.5, 0}, 0).test.empty());
  EXPECT_EQ(split(3, {1, 0, 0}, 0).train.size(), 3u);
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  for (const std::array<double, 3> bad : {std::array<double, 3>{0.9, 0.2, 0}, {-0.1, 0.2, 0}, {0, kNan, 0}})
    EXPECT_FALSE(are_fractions(bad)) << bad[0];
  EXPECT_TRUE(are_fractions(std::array<double, 3>{0.7, 0.2, 0.1})) << "above 1 by rounding";
}

}  // namespace
}  // namespace salient
