// tests/engine/rank/best_candidates_test.cpp - the best in blocks = the first of all, sorted, with ties.
#include "engine/rank/best_candidates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"

namespace salient {
namespace {

/// Small whole numbers, so that scores tie all the time.
struct RandomScores {
  RandomScores(std::uint32_t seed, std::size_t num_queries, std::size_t num_candidates)
      : scores(num_queries, std::vector<float>(num_candidates)), left_out(num_queries) {
    std::mt19937 random(seed);
    for (std::size_t q = 0; q < num_queries; ++q)
      for (NodeId c = 0; c < num_candidates; ++c) {
        scores[q][c] = static_cast<float>(random() % 5);
        if (random() % 4 == 0) left_out[q].push_back(c);
      }
  }

  CandidateProblem problem() const {
    return {.num_queries = scores.size(),
            .num_candidates = scores.empty() ? 0 : scores.front().size(),
            .scores =
                [this](std::size_t begin, std::size_t end, std::int64_t first, std::int64_t count, float* out) {
                  for (std::size_t q = begin; q < end; ++q) out = std::copy_n(scores[q].begin() + first, count, out);
                },
            .left_out = [this](std::size_t q) { return std::span<const NodeId>(left_out[q]); }};
  }

  std::vector<ScoredNode> sorted(std::size_t q, std::size_t k) const {
    std::vector<ScoredNode> all;
    for (NodeId c = 0; c < scores[q].size(); ++c)
      if (!std::ranges::binary_search(left_out[q], c)) all.push_back({c, scores[q][c]});
    std::ranges::stable_sort(all, [](const ScoredNode& a, const ScoredNode& b) { return a.score > b.score; });
    all.resize(std::min(all.size(), k));
    return all;
  }

  std::vector<std::vector<float>> scores;
  std::vector<std::vector<NodeId>> left_out;
};

TEST(BestCandidates, AreTheFirstOfAllSorted) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const RandomScores random(seed, seed % 7, 1 + seed * 31 % 200);
    for (const RankBlocks& blocks : {RankBlocks{1, 1}, RankBlocks{3, 7}, RankBlocks{64, 512}})
      for (const std::size_t k : {0u, 1u, 5u, 300u}) {
        const auto best = best_candidates(random.problem(), k, blocks);
        ASSERT_EQ(best.size(), random.scores.size());
        for (std::size_t q = 0; q < best.size(); ++q) EXPECT_EQ(best[q], random.sorted(q, k)) << seed << ", " << k;
      }
  }
}

TEST(BestCandidates, AScoreThatIsNoNumberIsAnError) {
  RandomScores random(1, 3, 10);
  random.scores[2][4] = NAN;
  try {
    (void)best_candidates(random.problem(), 2, {2, 3});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDiverged);
    EXPECT_STREQ(error.what(), "the score of query 2 and node 4 is not a number");
  }
}

}  // namespace
}  // namespace salient
