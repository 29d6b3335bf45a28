// tests/sampler/excluding_sampler_test.cpp - a batch never sees the links that it predicts, and its fanouts stay full.
#include "sampler/excluding_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <vector>

#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

using Seeds = std::vector<NodeId>;

std::uint32_t random_word(std::uint32_t a, std::uint32_t b) { return philox4x32({{11, 3}}, {{a, b, 0, 0}}).word[0]; }

/// Some places of some rows; of every 7th row all.
Exclusions some_of(const CsrGraph& graph, std::uint32_t seed) {
  Exclusions excluded;
  for (NodeId v = 0; v < graph.num_nodes(); v += 1 + random_word(v, seed) % 4)
    for (std::uint32_t place = 0; place < graph.degree(v); ++place)
      if (v % 7 == 0 || random_word(v * 1000 + place, seed) % 3 == 0) excluded.add(v, place), excluded.add(v, place);
  excluded.finish();
  return excluded;
}

Seeds first_nodes(NodeId count) {
  Seeds seeds(count);
  std::iota(seeds.begin(), seeds.end(), NodeId{0});
  return seeds;
}

void add_link(Exclusions& excluded, const CsrGraph& graph, NodeId source, NodeId destination) {
  excluded.add_entries(graph, entry_key(destination, source));
  excluded.add_entries(graph, entry_key(source, destination));
}

TEST(Exclusions, AreTheEntriesOfALinkAndOfItsReverse) {
  const std::vector<EdgeOffset> indptr{0, 3, 5, 6};
  const std::vector<NodeId> indices{1, 1, 2, 0, 2, 1};
  const CsrGraph graph{indptr, indices};
  Exclusions excluded;
  add_link(excluded, graph, 1, 0);
  add_link(excluded, graph, 0, 1);  // again, the other way round
  excluded.finish();
  const auto of = [&](NodeId v) { return std::vector(excluded.of(v).begin(), excluded.of(v).end()); };
  EXPECT_EQ(of(0), (std::vector<std::uint32_t>{0, 1})) << "parallel ones, too";
  EXPECT_EQ(of(1), (std::vector<std::uint32_t>{0}));
  EXPECT_TRUE(of(2).empty());
  const std::vector<std::int64_t> times{1, 2, 3, 4, 5, 6};
  const std::vector<NodeId> by_time{1, 2, 1, 2, 0, 1};
  const CsrGraph timed{indptr, by_time, nullptr, {{}, times}};
  excluded.clear();
  add_link(excluded, timed, 0, 1);
  excluded.finish();
  EXPECT_EQ(of(0), (std::vector<std::uint32_t>{0, 2})) << "rows ascend by time";
  EXPECT_EQ(of(1), (std::vector<std::uint32_t>{1}));
  excluded.clear();
  excluded.finish();
  EXPECT_TRUE(of(0).empty());
}

TEST(Exclusions, RanksSkipExcludedPlaces) {
  const std::vector<std::uint32_t> excluded{0, 3, 4, 9};
  std::vector<std::uint32_t> places;
  for (std::uint32_t rank = 0; rank < 8; ++rank) places.push_back(place_of_rank(rank, excluded));
  EXPECT_EQ(places, (std::vector<std::uint32_t>{1, 2, 5, 6, 7, 8, 10, 11}));
}

TEST(ExcludingSampler, EqualsTheReferenceByEveryDraw) {
  for (const double mean_degree : {1.0, 9.0, 60.0}) {
    const test::WeightedGraph graph = test::weighted(test::power_law_graph(700, mean_degree, 1));
    const CsrGraph view{graph.indptr, graph.indices, nullptr, {graph.weights, {}}};
    for (const auto& [draw, name] : names_of(Draw{}))
      for (const auto& fanouts : {std::vector{3, 2}, {40, kAllNeighbors}, {100}}) {
        ExcludingSampler sampler(view, {fanouts, draw});
        Mfg found;
        for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 2, 3}}) {
          const Exclusions excluded = some_of(view, key.batch);
          sampler.sample(first_nodes(50), key, excluded, found);
          ASSERT_EQ(found, reference_excluding_sample(view, {fanouts, draw}, first_nodes(50), key,
                                                      [&](NodeId v) { return excluded.of(v); }))
              << name << ' ' << mean_degree;
        }
      }
  }
}

TEST(ExcludingSampler, WithoutExclusionsItIsTheNeighborSampler) {
  const test::WeightedGraph graph = test::weighted(test::power_law_graph(2000, 12, 1));
  const CsrGraph view{graph.indptr, graph.indices, nullptr, {graph.weights, {}}};
  for (const auto& [draw, name] : names_of(Draw{})) {
    NeighborSampler plain(view, {{15, 10, 5}, draw});
    ExcludingSampler sampler(view, {{15, 10, 5}, draw});
    Exclusions none;
    none.finish();
    Mfg expected, found;
    plain.sample(first_nodes(200), {3, 2, 1}, expected);
    sampler.sample(first_nodes(200), {3, 2, 1}, none, found);
    EXPECT_EQ(found, expected) << name;
  }
}

TEST(ExcludingSampler, NoHopHasAnExcludedEntryAndFanoutsStayFull) {
  const test::OwnedGraph graph = test::sorted(test::power_law_graph(400, 14, 5));
  const std::vector<int> fanouts{6, 4, 5};
  for (const Draw draw : {Draw::kUniform, Draw::kLabor})
    for (std::uint32_t batch = 0; batch < 5; ++batch) {
      const Exclusions excluded = some_of(graph.view(), batch);
      ExcludingSampler sampler(graph.view(), {fanouts, draw});
      Mfg found;
      sampler.sample(first_nodes(30), {1, 1, batch}, excluded, found);
      for (std::size_t h = 0; h < fanouts.size(); ++h) {
        const MfgHop& hop = found.hops[fanouts.size() - 1 - h];
        for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
          const NodeId dst = found.nodes[i];
          std::multiset<NodeId> allowed, kept;
          for (std::uint32_t place = 0; place < graph.view().degree(dst); ++place)
            if (std::ranges::count(excluded.of(dst), place) == 0) allowed.insert(graph.view().row(dst)[place]);
          for (auto e = hop.indptr[i]; e < hop.indptr[i + 1]; ++e)
            kept.insert(found.nodes[static_cast<std::size_t>(hop.indices[static_cast<std::size_t>(e)])]);
          ASSERT_EQ(kept.size(), std::min<std::size_t>(allowed.size(), static_cast<std::size_t>(fanouts[h])));
          ASSERT_TRUE(std::includes(allowed.begin(), allowed.end(), kept.begin(), kept.end()));
        }
      }
    }
}

// Pearson's test over the 10 pairs that 2 of the 5 other entries make: 9 degrees of freedom, 27.9 is a chance of 0.001.
TEST(ExcludingSampler, EverySubsetOfTheRestIsEquallyLikely) {
  const std::vector<EdgeOffset> indptr{0, 8, 8, 8, 8, 8, 8, 8, 8, 8};
  const std::vector<NodeId> indices{1, 2, 3, 4, 5, 6, 7, 8};
  const CsrGraph graph{indptr, indices};
  Exclusions excluded;
  for (const std::uint32_t place : {0U, 4U, 7U}) excluded.add(0, place);
  excluded.finish();
  for (const Draw draw : {Draw::kUniform, Draw::kLabor}) {
    ExcludingSampler sampler(graph, {{2}, draw});
    std::map<std::set<NodeId>, int> counts;
    constexpr int kBatches = 50'000;
    Mfg found;
    for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
      sampler.sample(Seeds{0}, {5, 1, batch}, excluded, found);
      ++counts[{found.nodes.begin() + 1, found.nodes.end()}];
    }
    ASSERT_EQ(counts.size(), 10u);
    double chi_square = 0;
    for (const auto& [pair, count] : counts) {
      EXPECT_FALSE(pair.contains(1) || pair.contains(5) || pair.contains(8));
      chi_square += (count - kBatches / 10.0) * (count - kBatches / 10.0) / (kBatches / 10.0);
    }
    EXPECT_LT(chi_square, 27.9) << name_of(draw);
  }
}

TEST(ExcludingSampler, ThreadsDrawTheSame) {
  const test::OwnedGraph graph = test::sorted(test::power_law_graph(500, 20, 2));
  const Exclusions excluded = some_of(graph.view(), 1);
  std::array<Mfg, 4> found;
  {
    std::vector<std::jthread> threads;
    for (Mfg& mfg : found)
      threads.emplace_back([&] {
        ExcludingSampler sampler(graph.view(), {{10, 10}});
        for (std::uint32_t batch = 0; batch < 20; ++batch)
          sampler.sample(first_nodes(60), {1, 1, batch}, excluded, mfg);
      });
  }
  for (const Mfg& mfg : found) EXPECT_EQ(mfg, found[0]);
}

}  // namespace
}  // namespace salient
