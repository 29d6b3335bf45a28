// tests/sampler/temporal_sampler_test.cpp - no entry of any hop is later than its seed admits, and trees do not mix.
#include "sampler/temporal_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include "core/error.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/timed_graph.h"

namespace salient {
namespace {

using Seeds = std::vector<NodeId>;
using Times = std::vector<std::int64_t>;

using test::TimedGraph;

TimedGraph generated(NodeId num_nodes, double mean_degree, std::uint32_t most = 20) {
  return test::timed(test::weighted(test::power_law_graph(num_nodes, mean_degree, 1)), most);
}

TEST(TimeRange, IsOpenOrClosedAsTheOrderSays) {
  const Times times{1, 3, 3, 5, 5, 5, 9};
  const auto range = [&](std::int64_t time, TimeOrder order, std::optional<std::int64_t> window = {}) {
    const TimeRange found = admitted(times, time, {.order = order, .window = window});
    return std::pair(found.begin, found.end);
  };
  using enum TimeOrder;
  EXPECT_EQ(range(5, kBefore), std::pair(0U, 3U)) << "T itself is not before T";
  EXPECT_EQ(range(5, kUpTo), std::pair(0U, 6U));
  EXPECT_EQ(range(5, kBefore, 2), std::pair(1U, 3U)) << "T - W is in it";
  EXPECT_EQ(range(5, kUpTo, 2), std::pair(3U, 6U)) << "T - W is not";
  EXPECT_EQ(range(5, kUpTo, 1), std::pair(3U, 6U));
  EXPECT_EQ(range(5, kBefore, 1), std::pair(3U, 3U));
  EXPECT_EQ(range(1, kBefore), std::pair(0U, 0U)) << "before the first";
  EXPECT_EQ(range(1, kUpTo), std::pair(0U, 1U));
  EXPECT_EQ(range(100, kBefore), std::pair(0U, 7U));
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(range(kLeast, kUpTo, kMost), std::pair(0U, 0U)) << "no overflow";
  EXPECT_EQ(range(kMost, kBefore, kMost), std::pair(0U, 7U));
}

TEST(TemporalSampler, EqualsTheReferenceByEveryRuleAndDraw) {
  for (const double mean_degree : {1.0, 9.0, 60.0}) {
    const TimedGraph graph = generated(700, mean_degree);
    Seeds seeds;
    Times times;
    for (NodeId v = 0; v < 40; ++v) {
      seeds.push_back(v % 30);  // some at two times
      times.push_back(v < 30 ? 10 : static_cast<std::int64_t>(v % 9) + 11);
    }
    for (const TimeRule& rule : test::all_time_rules())
      for (const auto& [draw, name] : names_of(Draw{}))
        for (const auto& fanouts : {std::vector{3, 2}, {40, kAllNeighbors}}) {
          if (rule.strategy == TimeStrategy::kLast && draw != Draw::kUniform) continue;
          TemporalSampler sampler(graph.view(), {fanouts, draw}, rule);
          TemporalMfg found;
          for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 2, 3}}) {
            sampler.sample(seeds, times, key, found);
            ASSERT_EQ(found, reference_temporal_sample(graph.view(), {fanouts, draw}, rule, seeds, times, key))
                << name << ' ' << name_of(rule.order) << ' ' << name_of(rule.strategy) << ' '
                << rule.window.value_or(0);
          }
        }
  }
}

/// (destination, source, count) of the innermost hop's edges, all of one destination number.
std::multiset<NodeId> kept_by(const Mfg& mfg, const MfgHop& hop, std::size_t dst) {
  std::multiset<NodeId> kept;
  for (auto e = static_cast<std::size_t>(hop.indptr[dst]); e < static_cast<std::size_t>(hop.indptr[dst + 1]); ++e)
    kept.insert(mfg.nodes[static_cast<std::size_t>(hop.indices[e])]);
  return kept;
}

// The law itself, entry by entry: pyg#7794 is edges later than the seed among those that were kept.
TEST(TemporalSampler, NoEntryOfAnyHopBreaksTheRule) {
  const TimedGraph graph = generated(300, 12);
  const Seeds seeds{0, 1, 2, 3, 4, 5, 0, 1, 2};
  const Times times{20, 11, 5, 1, 0, 21, 3, 12, 6};
  for (const TimeRule& rule : test::all_time_rules()) {
    TemporalSampler sampler(graph.view(), {{4, 3, 5}}, rule);
    TemporalMfg found;
    sampler.sample(seeds, times, {1, 1, 1}, found);
    for (std::size_t h = 0; h < 3; ++h) {
      const MfgHop& hop = found.mfg.hops[2 - h];
      const std::size_t fanout = h == 0 ? 4 : h == 1 ? 3 : 5;
      for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
        const std::int64_t time = found.times[i];
        std::multiset<NodeId> allowed;
        for (auto e = graph.indptr[found.mfg.nodes[i]]; e < graph.indptr[found.mfg.nodes[i] + 1]; ++e) {
          const std::int64_t t = graph.times[static_cast<std::size_t>(e)], window = rule.window.value_or(1000);
          const bool is_in =
              rule.order == TimeOrder::kBefore ? time - window <= t && t < time : time - window < t && t <= time;
          if (is_in) allowed.insert(graph.indices[static_cast<std::size_t>(e)]);
        }
        const std::multiset<NodeId> kept = kept_by(found.mfg, hop, i);
        ASSERT_EQ(kept.size(), std::min(allowed.size(), fanout));
        ASSERT_TRUE(std::includes(allowed.begin(), allowed.end(), kept.begin(), kept.end()));
      }
    }
  }
}

TEST(TemporalSampler, TreesOfDifferentTimesDoNotMix) {
  const TimedGraph graph = generated(200, 10);
  TemporalSampler sampler(graph.view(), {{5, 5}}, {});
  TemporalMfg found;
  sampler.sample(Seeds{7, 7, 8}, Times{15, 9, 15}, {1, 1, 1}, found);
  std::set<std::pair<NodeId, std::int64_t>> units;
  for (std::size_t i = 0; i < found.times.size(); ++i) units.emplace(found.mfg.nodes[i], found.times[i]);
  EXPECT_EQ(units.size(), found.times.size()) << "every node and time once";
  for (const MfgHop& hop : found.mfg.hops)
    for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i)
      for (auto e = static_cast<std::size_t>(hop.indptr[i]); e < static_cast<std::size_t>(hop.indptr[i + 1]); ++e)
        ASSERT_EQ(found.times[static_cast<std::size_t>(hop.indices[e])], found.times[i]);
}

// relgt#6: a node that is a seed at two times is two seeds, and neither takes the other's neighbours.
TEST(TemporalSampler, EverySeedKeepsWhatItKeepsAlone) {
  const TimedGraph graph = generated(200, 10);
  TemporalSampler sampler(graph.view(), {{5}}, {});
  const Seeds seeds{7, 7, 8, 7};
  const Times times{15, 9, 15, 20};
  TemporalMfg together, alone;
  sampler.sample(seeds, times, {1, 1, 1}, together);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    sampler.sample({&seeds[i], 1}, {&times[i], 1}, {1, 1, 1}, alone);
    EXPECT_EQ(kept_by(together.mfg, together.mfg.hops[0], i), kept_by(alone.mfg, alone.mfg.hops[0], 0)) << i;
  }
}

// Seeds of one time see a graph of its past alone: as if the sampler had been given nothing else.
TEST(TemporalSampler, IsTheSamplerOfThePast) {
  const TimedGraph graph = generated(500, 15);
  constexpr std::int64_t kTime = 12;
  test::OwnedGraph past;
  for (std::size_t v = 0; v + 1 < graph.indptr.size(); ++v) {
    for (auto e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e)
      if (graph.times[static_cast<std::size_t>(e)] < kTime)
        past.indices.push_back(graph.indices[static_cast<std::size_t>(e)]);
    past.indptr.push_back(static_cast<EdgeOffset>(past.indices.size()));
  }
  const Seeds seeds{4, 3, 2, 499, 77};
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor}) {
    TemporalMfg found;
    TemporalSampler(graph.view(), {{6, 4, 2}, draw}, {}).sample(seeds, Times(5, kTime), {1, 2, 3}, found);
    Mfg expected;
    NeighborSampler(past.view(), {{6, 4, 2}, draw}).sample(seeds, {1, 2, 3}, expected);
    EXPECT_EQ(found.mfg, expected) << name_of(draw);
    EXPECT_EQ(found.times, Times(found.mfg.nodes.size(), kTime));
  }
}

TEST(TemporalSampler, TheLastAreTheLatest) {
  TimedGraph star{test::weighted(test::star_graph(6)), Times{1, 2, 2, 2, 5, 9}};
  const auto last_of = [&](std::int64_t time, int fanout) {
    TemporalMfg found;
    TemporalSampler(star.view(), {{fanout}}, {.strategy = TimeStrategy::kLast})
        .sample(Seeds{0}, Times{time}, {1, 1, 1}, found);
    return Seeds(found.mfg.nodes.begin() + 1, found.mfg.nodes.end());
  };
  EXPECT_EQ(last_of(10, 2), (Seeds{5, 6}));
  EXPECT_EQ(last_of(9, 2), (Seeds{4, 5})) << "of equal times those last in the row";
  EXPECT_EQ(last_of(9, 20), (Seeds{1, 2, 3, 4, 5}));
  EXPECT_EQ(last_of(1, 20), Seeds{}) << "before the first";
}

// pyg#10593, cugraph-gnn#530: what is drawn, or is the latest, is so of the window alone, in every hop.
TEST(TemporalSampler, AWindowIsDrawnFromBeforeTheFanoutIs) {
  TimedGraph star{test::weighted(test::star_graph(6)), Times{1, 2, 2, 2, 5, 9}};
  const auto kept = [&](TimeRule rule, int fanout, Draw draw = Draw::kUniform) {
    TemporalMfg found;
    TemporalSampler(star.view(), {{fanout}, draw}, rule).sample(Seeds{0}, Times{9}, {1, 1, 1}, found);
    Seeds nodes(found.mfg.nodes.begin() + 1, found.mfg.nodes.end());
    std::ranges::sort(nodes);
    return nodes;
  };
  using enum TimeOrder;
  for (const TimeStrategy strategy : {TimeStrategy::kUniform, TimeStrategy::kLast}) {
    EXPECT_EQ(kept({kBefore, 4, strategy}, 20), Seeds{5}) << "5 = T - W is in it";
    EXPECT_EQ(kept({kBefore, 3, strategy}, 20), Seeds{});
    EXPECT_EQ(kept({kUpTo, 4, strategy}, 20), Seeds{6});
    EXPECT_EQ(kept({kUpTo, 5, strategy}, 20), (Seeds{5, 6}));
    EXPECT_EQ(kept({kBefore, 7, strategy}, 4), (Seeds{2, 3, 4, 5})) << "as many as there are";
  }
  EXPECT_EQ(kept({kBefore, 7, TimeStrategy::kLast}, 2), (Seeds{4, 5}));
  for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement, Draw::kLabor, Draw::kWeighted})
    for (const NodeId node : kept({kBefore, 7}, 2, draw)) EXPECT_TRUE(node >= 2 && node <= 5) << name_of(draw);
}

TEST(TemporalSampler, RefusesInputOutsideItsContract) {
  const TimedGraph graph = generated(10, 3);
  const auto make = [&](SamplingRule rule, TimeRule times) { TemporalSampler(graph.view(), std::move(rule), times); };
  EXPECT_THROW(make({{2}}, {.window = 0}), Error) << "a window of zero";
  EXPECT_THROW(make({{2}}, {.window = -5}), Error);
  EXPECT_THROW(make({{2}, Draw::kLabor}, {.strategy = TimeStrategy::kLast}), Error);
  const test::OwnedGraph without = test::star_graph(3);
  EXPECT_THROW(TemporalSampler(without.view(), {{2}}, {}), Error);
  TemporalSampler sampler(graph.view(), {{2}}, {});
  TemporalMfg found;
  EXPECT_THROW(sampler.sample(Seeds{1, 1}, Times{3, 3}, {}, found), Error) << "the same seed at the same time";
  EXPECT_THROW(sampler.sample(Seeds{1}, Times{3, 3}, {}, found), Error);
  EXPECT_THROW(sampler.sample(Seeds{10}, Times{3}, {}, found), Error);
  EXPECT_NO_THROW(sampler.sample(Seeds{1, 1}, Times{3, 4}, {}, found));
}

}  // namespace
}  // namespace salient
