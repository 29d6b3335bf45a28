// tests/sampler/entry_places_test.cpp - every entry of every hop knows its place in the graph, by every draw.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include "core/error.h"
#include "sampler/batch_sampler.h"
#include "sampler/excluding_sampler.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/temporal_sampler.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

struct TimedGraph : test::WeightedGraph {
  std::vector<std::int64_t> times{};
  CsrGraph view() const { return {indptr, indices, nullptr, {weights, times}}; }
};

TimedGraph timed_graph(NodeId num_nodes, double mean_degree) {
  TimedGraph graph{test::weighted(test::power_law_graph(num_nodes, mean_degree, 1))};
  for (std::size_t v = 0; v + 1 < graph.indptr.size(); ++v)
    for (EdgeOffset e = graph.indptr[v]; e < graph.indptr[v + 1]; ++e) graph.times.push_back((e - graph.indptr[v]) / 3);
  return graph;
}

std::vector<NodeId> every_third(NodeId num_nodes) {
  std::vector<NodeId> seeds;
  for (NodeId v = num_nodes; v-- > 0;)
    if (v % 3 == 0) seeds.push_back(v);
  return seeds;
}

/// Of each row of a hop that belongs to row_of(i) of the graph: its places are there, and their entries are its
/// neighbours. @param may_repeat  an entry may be kept twice
template <class RowOf>
void expect_places(const CsrGraph& graph, const Mfg& mfg, const MfgHop& hop, bool may_repeat, const RowOf& row_of) {
  ASSERT_EQ(hop.places.size(), hop.indices.size());
  for (std::size_t i = 0; i + 1 < hop.indptr.size(); ++i) {
    const std::size_t row = row_of(i);
    std::set<std::int64_t> met;
    for (auto e = static_cast<std::size_t>(hop.indptr[i]); e < static_cast<std::size_t>(hop.indptr[i + 1]); ++e) {
      const std::int64_t place = hop.places[e];
      ASSERT_TRUE(place >= graph.indptr[row] && place < graph.indptr[row + 1]) << "in the row of its destination";
      ASSERT_EQ(graph.indices[static_cast<std::size_t>(place)], mfg.nodes[static_cast<std::size_t>(hop.indices[e])]);
      EXPECT_TRUE(met.insert(place).second || may_repeat) << "an entry is kept once";
    }
  }
}

Mfg without_places(Mfg mfg) {
  for (MfgHop& hop : mfg.hops) hop.places.clear();
  return mfg;
}

TEST(EntryPlaces, AreThoseOfTheKeptEntriesByEveryDraw) {
  for (const auto& [draw, name] : names_of(Draw{}))
    for (const double mean_degree : {0.0, 1.0, 9.0, 50.0})
      for (const auto& fanouts : {std::vector{1}, {15, 10, 5}, {2, kAllNeighbors}, {100}}) {
        SCOPED_TRACE(name);
        const TimedGraph graph = timed_graph(2000, mean_degree);
        NeighborSampler plain(graph.view(), {fanouts, draw}), sampler(graph.view(), {fanouts, draw});
        sampler.record_places();
        std::vector<NodeId> seeds = every_third(2000);
        Mfg expected, mfg;
        for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 0, 1}, {2, 1, 0}}) {
          plain.sample(seeds, key, expected);
          sampler.sample(seeds, key, mfg);
          ASSERT_EQ(without_places(mfg), expected) << "places change nothing else";
          for (const MfgHop& hop : mfg.hops)
            expect_places(graph.view(), mfg, hop, draw == Draw::kWithReplacement,
                          [&](std::size_t i) { return mfg.nodes[i]; });
          seeds.resize(seeds.size() / 3);  // reuse after a larger batch
        }
      }
}

TEST(EntryPlaces, AreThoseOfWhatIsNotExcludedByEveryDraw) {
  const TimedGraph graph = timed_graph(2000, 20);
  Exclusions excluded;
  for (NodeId node = 0; node < 2000; node += 2)
    for (std::uint32_t place = node % 3; place < graph.view().degree(node); place += 3) excluded.add(node, place);
  excluded.finish();
  ASSERT_GT(excluded.num_entries(), 1000U);
  for (const auto& [draw, name] : names_of(Draw{})) {
    SCOPED_TRACE(name);
    ExcludingSampler plain(graph.view(), {{4, 50}, draw}), sampler(graph.view(), {{4, 50}, draw});
    sampler.record_places();
    Mfg expected, mfg;
    plain.sample(every_third(2000), {1, 2, 3}, excluded, expected);
    sampler.sample(every_third(2000), {1, 2, 3}, excluded, mfg);
    ASSERT_EQ(without_places(mfg), expected);
    for (const MfgHop& hop : mfg.hops) {
      expect_places(graph.view(), mfg, hop, draw == Draw::kWithReplacement,
                    [&](std::size_t i) { return mfg.nodes[i]; });
      for (std::size_t i = 0; i + 1 < hop.indptr.size(); ++i)
        for (auto e = static_cast<std::size_t>(hop.indptr[i]); e < static_cast<std::size_t>(hop.indptr[i + 1]); ++e) {
          const auto in_row = static_cast<std::uint32_t>(hop.places[e] - graph.indptr[mfg.nodes[i]]);
          ASSERT_FALSE(std::ranges::count(excluded.of(mfg.nodes[i]), in_row)) << "an excluded entry";
        }
    }
  }
}

TEST(EntryPlaces, AreThoseOfThePastByEveryRule) {
  const TimedGraph graph = timed_graph(2000, 20);
  const std::vector<NodeId> seeds = every_third(2000);
  std::vector<std::int64_t> times;
  for (const NodeId seed : seeds) times.push_back(seed % 7);
  for (const auto& [draw, name] : names_of(Draw{}))
    for (const auto& [strategy, strategy_name] : names_of(TimeStrategy{}))
      for (const std::optional<std::int64_t> window : {std::optional<std::int64_t>(), {2}}) {
        if (strategy == TimeStrategy::kLast && draw != Draw::kUniform) continue;
        SCOPED_TRACE(std::string(name) + " " + strategy_name);
        const TimeRule rule{.window = window, .strategy = strategy};
        TemporalSampler plain(graph.view(), {{4, 3}, draw}, rule), sampler(graph.view(), {{4, 3}, draw}, rule);
        sampler.record_places();
        TemporalMfg expected, sample;
        plain.sample(seeds, times, {1, 2, 3}, expected);
        sampler.sample(seeds, times, {1, 2, 3}, sample);
        ASSERT_EQ(without_places(sample.mfg), expected.mfg);
        for (const MfgHop& hop : sample.mfg.hops)
          expect_places(graph.view(), sample.mfg, hop, draw == Draw::kWithReplacement,
                        [&](std::size_t i) { return sample.mfg.nodes[i]; });
      }
}

TEST(EntryPlaces, AreThoseOfTheSlotsOfATypedGraph) {
  SlotTable slots;
  slots.append(300, std::vector<std::uint16_t>{0, 1});
  slots.append(200, std::vector<std::uint16_t>{2});
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices;
  std::vector<float> weights;
  std::mt19937 random(1);
  for (std::uint64_t row = 0; row < slots.num_rows(); ++row) {
    std::set<NodeId> entries;
    for (std::uint64_t e = random() % 30; e > 0; --e) entries.insert(static_cast<NodeId>(random() % 500));
    indices.insert(indices.end(), entries.begin(), entries.end());
    indptr.push_back(static_cast<EdgeOffset>(indices.size()));
  }
  weights.assign(indices.size(), 0.5F);
  const CsrGraph graph{indptr, indices, &slots, {weights, {}}};
  for (const auto& [draw, name] : names_of(Draw{})) {
    SCOPED_TRACE(name);
    NeighborSampler sampler(graph, {{5, kAllNeighbors}, draw});
    sampler.record_places();
    Mfg mfg;
    sampler.sample(every_third(500), {1, 2, 3}, mfg);
    for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
      const MfgHop& hop = mfg.hops[h];
      expect_places(graph, mfg, hop, draw == Draw::kWithReplacement, [&](std::size_t i) {
        const auto dst = static_cast<std::size_t>(
            std::upper_bound(hop.row_begin.begin(), hop.row_begin.end(), static_cast<LocalId>(i)) -
            hop.row_begin.begin() - 1);
        const NodeId node = mfg.nodes[dst];
        return static_cast<std::size_t>(slots.row_of(
            slots.type_of(node), node, static_cast<std::uint32_t>(i) - static_cast<std::uint32_t>(hop.row_begin[dst])));
      });
    }
  }
}

TEST(EntryPlaces, ACopyIsRefusedWhereNoneAreRecorded) {
  const TimedGraph graph = timed_graph(50, 4);
  HostBatchSampler sampler(graph.view(), {{3}});
  const std::vector<NodeId> seeds{1, 2, 3};
  const MfgShape shape = sampler.sample(seeds, {});
  std::vector<NodeId> nodes(static_cast<std::size_t>(shape.num_nodes));
  const auto num_edges = static_cast<std::size_t>(shape.hops[0].num_edges);
  ASSERT_GT(num_edges, 0U);
  std::vector<LocalId> indptr(4), indices(num_edges);
  std::vector<std::int64_t> places(num_edges);
  const MfgMemory::Hop hop{indptr.data(), indices.data(), places.data()};
  EXPECT_THROW(sampler.copy_to({nodes.data(), {&hop, 1}}), Error);
  sampler.record_places();
  (void)sampler.sample(seeds, {});
  sampler.copy_to({nodes.data(), {&hop, 1}});
  for (std::size_t e = 0; e < num_edges; ++e)
    EXPECT_EQ(graph.indices[static_cast<std::size_t>(places[e])], nodes[static_cast<std::size_t>(indices[e])]);
}

}  // namespace
}  // namespace salient
