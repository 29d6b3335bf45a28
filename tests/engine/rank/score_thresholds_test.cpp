// tests/engine/rank/score_thresholds_test.cpp - thresholds of triple classification against trying every score.
#include "engine/rank/score_thresholds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace salient {
namespace {

constexpr float kNone = std::numeric_limits<float>::infinity();

TEST(ScoreThresholds, AreTheBestOfAllScores) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<JudgedTriple> triples(random() % 30);
    for (JudgedTriple& triple : triples)
      triple = {static_cast<std::uint16_t>(random() % 3), random() % 2 == 0, static_cast<float>(random() % 6)};
    const ScoreThresholds thresholds(triples, 4);
    const std::vector<JudgedCounts> found = thresholds.judge(triples);
    for (std::uint16_t relation = 0; relation < 3; ++relation) {
      if (std::ranges::none_of(triples, [&](const auto& triple) { return triple.relation == relation; })) continue;
      std::uint64_t most = 0;
      float lowest = kNone;
      for (const float from : {0.F, 1.F, 2.F, 3.F, 4.F, 5.F, kNone}) {
        const auto right = static_cast<std::uint64_t>(std::ranges::count_if(triples, [&](const auto& triple) {
          return triple.relation == relation && (triple.score >= from) == triple.is_link;
        }));
        if (right > most) lowest = from;
        most = std::max(most, right);
      }
      EXPECT_EQ(found[relation].right, most);
      if (thresholds.of(relation) != kNone) {
        EXPECT_TRUE(std::ranges::any_of(triples, [&](const auto& triple) {
          return triple.relation == relation && triple.score == thresholds.of(relation);
        }));
        EXPECT_GE(thresholds.of(relation), lowest);
      }
    }
    EXPECT_EQ(sum_of(found).links + sum_of(found).negatives, triples.size());
  }
}

TEST(ScoreThresholds, ARelationWithoutValidationTakesThatOfAll) {
  const JudgedTriple triples[] = {{0, true, 3}, {0, false, 1}, {1, true, 7}, {1, false, 5}};
  const ScoreThresholds thresholds(triples, 3);
  EXPECT_EQ(thresholds.of(0), 3);
  EXPECT_EQ(thresholds.of(1), 7);
  EXPECT_EQ(thresholds.of(2), 3) << "3 of 4 are right from there on";
  EXPECT_EQ(ScoreThresholds({}, 1).of(0), kNone);
  EXPECT_FALSE(ScoreThresholds({}, 1).is_link(0, 9));
}

}  // namespace
}  // namespace salient
