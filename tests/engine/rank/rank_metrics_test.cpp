// tests/engine/rank/rank_metrics_test.cpp - ranks and hits by their definitions, with ties and few negatives.
#include "engine/rank/rank_metrics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

namespace salient {
namespace {

TEST(RankMetrics, TiesCountByTheirRule) {
  const RankCounts counts{.greater = 4, .equal = 3};
  EXPECT_EQ(rank_of(counts), 6.5);
  EXPECT_EQ(rank_of(counts, TieRule::kOptimistic), 5);
  EXPECT_EQ(rank_of(counts, TieRule::kPessimistic), 8);
  EXPECT_EQ(rank_of({}), 1);
}

/// OGB: the mean of the ranks with "greater" and with "greater or equal", from 1 on.
TEST(RankMetrics, TheRealisticRankIsThatOfOgb) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> negatives(random() % 20);
    for (float& negative : negatives) negative = static_cast<float>(random() % 5);
    const auto positive = static_cast<float>(random() % 5);
    const auto above = std::ranges::count_if(negatives, [&](float n) { return n > positive; });
    const auto not_below = std::ranges::count_if(negatives, [&](float n) { return n >= positive; });
    EXPECT_EQ(rank_of(counts_among(positive, negatives)), 1 + 0.5 * static_cast<double>(above + not_below));
  }
}

TEST(RankMetrics, TalliesAreMeansOverRanks) {
  RankTally tally, first, second;
  for (const double rank : {1.0, 1.5, 3.0, 10.0, 11.0}) {
    tally.add(rank);
    (rank < 2 ? first : second).add(rank);
  }
  EXPECT_EQ(tally.count(), 5u);
  EXPECT_DOUBLE_EQ(tally.mrr(), (1 + 1 / 1.5 + 1 / 3.0 + 0.1 + 1 / 11.0) / 5);
  EXPECT_DOUBLE_EQ(tally.mean_rank(), 26.5 / 5);
  EXPECT_EQ(tally.hits_at(1), 0.2) << "1.5 is above 1";
  EXPECT_EQ(tally.hits_at(3), 0.6);
  EXPECT_EQ(tally.hits_at(10), 0.8);
  first.add(second);
  EXPECT_DOUBLE_EQ(first.mrr(), tally.mrr());
  EXPECT_EQ(RankTally().mrr(), 0) << "a relation without links";
  EXPECT_EQ(RankTally().hits_at(10), 0);
}

TEST(RankMetrics, HitsOfOgbAreStrictlyAboveTheKthBest) {
  const std::vector<float> positives{5, 3, 2, 1}, negatives{4, 3, 3, 0};
  EXPECT_EQ(ogb_hits_at(positives, negatives, 1), 0.25);
  EXPECT_EQ(ogb_hits_at(positives, negatives, 2), 0.25) << "3 is not above 3";
  EXPECT_EQ(ogb_hits_at(positives, negatives, 4), 1);
  EXPECT_EQ(ogb_hits_at(positives, negatives, 5), 1) << "fewer negatives than k";
  EXPECT_FALSE(ogb_hits_at({}, negatives, 1));
  EXPECT_FALSE(ogb_hits_at(positives, std::vector<float>{NAN}, 1));
}

TEST(RankMetrics, HitsOfOgbAreThoseOfASort) {
  std::mt19937 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<float> positives(1 + random() % 10), negatives(random() % 30);
    for (std::vector<float>* scores : {&positives, &negatives})
      for (float& score : *scores) score = static_cast<float>(random() % 6);
    const std::size_t k = 1 + random() % 12;
    double expected = 1;
    if (negatives.size() >= k) {
      std::vector<float> sorted = negatives;
      std::ranges::sort(sorted, std::greater<>());
      expected = 0;
      for (const float positive : positives) expected += positive > sorted[k - 1];
      expected /= static_cast<double>(positives.size());
    }
    EXPECT_DOUBLE_EQ(*ogb_hits_at(positives, negatives, k), expected);
  }
}

}  // namespace
}  // namespace salient
