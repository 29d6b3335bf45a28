// tests/engine/rank/blocked_ranks_test.cpp - ranks in blocks = ranks pair by pair, with ties, in any memory.
#include "engine/rank/blocked_ranks.h"

#include <gtest/gtest.h>
#include <oneapi/tbb/task_arena.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "core/error.h"
#include "engine/rank/known_links.h"

namespace salient {
namespace {

/// Small whole numbers, so that scores tie all the time.
struct RandomProblem {
  RandomProblem(std::uint32_t seed, PairScore kind, std::size_t num_queries, NodeId num_candidates,
                std::int64_t width) {
    std::mt19937 random(seed);
    const auto fill = [&](std::vector<float>& values, std::size_t count) {
      for (std::size_t i = 0; i < count; ++i) values.push_back(static_cast<float>(random() % 3));
    };
    fill(rows, num_queries * static_cast<std::size_t>(width));
    fill(candidates, num_candidates * static_cast<std::size_t>(width));
    known.resize(num_queries);
    for (std::size_t q = 0; q < num_queries; ++q) {
      targets.push_back(static_cast<NodeId>(random() % num_candidates));
      for (NodeId c = 0; c < num_candidates; ++c)
        if (c == targets[q] || random() % 4 == 0) known[q].push_back(c);
    }
    if (!known.empty()) {  // no competitor at all
      known[0].clear();
      for (NodeId c = 0; c < num_candidates; ++c) known[0].push_back(c);
    }
    problem = {.kind = kind,
               .width = width,
               .candidates = candidates.data(),
               .num_candidates = num_candidates,
               .targets = targets,
               .queries =
                   [this, width](std::size_t begin, std::size_t end, float* out) {
                     const auto w = static_cast<std::size_t>(width);
                     std::copy_n(rows.data() + begin * w, (end - begin) * w, out);
                   },
               .known = [this](std::size_t q) { return std::span<const NodeId>(known[q]); }};
  }
  RandomProblem(const RandomProblem&) = delete;

  std::vector<float> rows{}, candidates{};
  std::vector<NodeId> targets{};
  std::vector<std::vector<NodeId>> known{};
  RankProblem problem{};
};

TEST(BlockedRanks, AreThoseOfAllPairs) {
  bool has_ties = false;
  for (const PairScore kind : {PairScore::kDot, PairScore::kDistance})
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
      RandomProblem random(seed, kind, seed * 3 % 50, 1 + seed * 37 % 400, 1 + seed % 5);
      const std::vector<RankCounts> expected = ranks_reference(random.problem);
      for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{4096}, kDefaultRankBytes})
        EXPECT_EQ(blocked_ranks(random.problem, bytes), expected) << seed << ", " << bytes << " bytes";
      for (const RankCounts& counts : expected) has_ties |= counts.equal > 0;
      random.problem.known = nullptr;
      EXPECT_EQ(blocked_ranks(random.problem, 4096), ranks_reference(random.problem)) << "nothing is filtered";
    }
  EXPECT_TRUE(has_ties);
}

TEST(BlockedRanks, ATargetWithoutCompetitorsIsFirst) {
  const RandomProblem random(3, PairScore::kDot, 4, 50, 3);
  EXPECT_EQ(blocked_ranks(random.problem)[0], RankCounts{});
  EXPECT_TRUE(blocked_ranks({.width = 3, .candidates = random.candidates.data(), .num_candidates = 50}).empty());
}

TEST(BlockedRanks, MemoryBoundsTheBlocks) {
  for (const std::int64_t width : {1, 64, 1024})
    for (const std::uint64_t bytes : {std::uint64_t{1} << 20, std::uint64_t{64} << 20, std::uint64_t{1} << 30}) {
      const RankBlocks blocks = rank_blocks(bytes, width);
      const auto floats = static_cast<std::uint64_t>(blocks.queries * blocks.candidates + 2 * blocks.queries * width);
      EXPECT_LE(floats * sizeof(float), bytes) << width;
    }
}

TEST(BlockedRanks, ThreadsChangeNothing) {
  const RandomProblem random(5, PairScore::kDot, 100, 500, 8);
  const auto with = [&](int threads) {
    return oneapi::tbb::task_arena(threads).execute([&] { return blocked_ranks(random.problem, 1 << 14); });
  };
  EXPECT_EQ(with(1), with(4));
}

TEST(BlockedRanks, AScoreThatIsNoNumberEndsTheRun) {
  RandomProblem random(5, PairScore::kDot, 3, 10, 2);
  random.rows[3] = NAN;
  try {
    (void)blocked_ranks(random.problem);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kDiverged);
    EXPECT_STREQ(error.what(), "the score of link 1 is not a number");
  }
}

TEST(KnownLinks, AreSortedByBothEnds) {
  const std::vector<NodeId> a{0, 5, 0, 2, 3, 5}, b{0, 5, 0, 1};
  const std::vector<std::uint16_t> in_a{0, 0, 0}, in_b{0, 1};
  const std::vector<LinkTable> splits{{a, in_a}, {b, in_b}, {}};
  const KnownLinks known(splits);
  const auto of = [&](LinkSide side, std::uint16_t relation, NodeId node) {
    const auto found = known.of(side, relation, node);
    return std::vector<NodeId>(found.begin(), found.end());
  };
  EXPECT_EQ(of(LinkSide::kTail, 0, 0), (std::vector<NodeId>{2, 5})) << "each once";
  EXPECT_EQ(of(LinkSide::kHead, 0, 5), (std::vector<NodeId>{0, 3}));
  EXPECT_EQ(of(LinkSide::kTail, 1, 0), (std::vector<NodeId>{1}));
  EXPECT_TRUE(of(LinkSide::kTail, 1, 3).empty());
  EXPECT_TRUE(KnownLinks().of(LinkSide::kTail, 0, 0).empty());
}

TEST(KnownLinks, OfSymmetricGraphsHaveNoDirection) {
  const std::vector<NodeId> ends{0, 5, 2, 0, 3, 5};
  const std::vector<LinkTable> splits{{ends, {}}};
  const auto of = [&](bool are_symmetric, LinkSide side, NodeId node) {
    const KnownLinks known(splits, are_symmetric);
    const auto found = known.of(side, 0, node);
    return std::vector<NodeId>(found.begin(), found.end());
  };
  EXPECT_EQ(of(false, LinkSide::kTail, 0), (std::vector<NodeId>{5}));
  EXPECT_EQ(of(false, LinkSide::kHead, 0), (std::vector<NodeId>{2}));
  for (const LinkSide side : kLinkSides) {
    EXPECT_EQ(of(true, side, 0), (std::vector<NodeId>{2, 5}));
    EXPECT_EQ(of(true, side, 5), (std::vector<NodeId>{0, 3}));
  }
}

}  // namespace
}  // namespace salient
