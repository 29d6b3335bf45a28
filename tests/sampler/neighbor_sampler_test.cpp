// tests/sampler/neighbor_sampler_test.cpp - rules that hold for every graph, seed set and fanout.
#include "sampler/neighbor_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <thread>

#include "core/bounded_queue.h"
#include "core/error.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"
#include "tests/support/sampler_case.h"

namespace salient {
namespace {

using test::SamplerCase;

std::vector<SamplerCase> all_cases() {
  std::vector<SamplerCase> cases;
  for (const NodeId num_nodes : {1u, 2u, 60u, 3000u})
    for (const double mean_degree : {0.0, 1.0, 9.0, 50.0})
      for (const auto& fanouts : {std::vector{1}, {15, 10, 5}, {2, kAllNeighbors}, {100}})
        cases.push_back({num_nodes, mean_degree, fanouts});
  return cases;
}

class NeighborSamplerProperty : public ::testing::TestWithParam<SamplerCase> {
 protected:
  NeighborSamplerProperty() {  // every third node, highest first: the order of seeds must survive
    for (NodeId v = GetParam().num_nodes; v-- > 0;)
      if (v % 3 == 0) seeds_.push_back(v);
  }
  void expect_subgraph(Draw draw) {
    Mfg mfg;
    NeighborSampler(view_, {fanouts_, draw}).sample(seeds_, {}, mfg);
    ASSERT_EQ(mfg.hops.size(), fanouts_.size());
    EXPECT_TRUE(std::equal(seeds_.begin(), seeds_.end(), mfg.nodes.begin())) << "seeds lead, in order";
    EXPECT_EQ(std::set(mfg.nodes.begin(), mfg.nodes.end()).size(), mfg.nodes.size()) << "nodes are distinct";
    LocalId num_dst = static_cast<LocalId>(seeds_.size());
    for (std::size_t h = 0; h < fanouts_.size(); ++h) {
      const MfgHop& hop = mfg.hops[fanouts_.size() - 1 - h];
      ASSERT_EQ(hop.num_dst, num_dst) << "every node so far is a destination again";
      for (std::size_t i = 0; i < static_cast<std::size_t>(num_dst); ++i) {
        std::vector<NodeId> kept;
        for (auto e = static_cast<std::size_t>(hop.indptr[i]); e < static_cast<std::size_t>(hop.indptr[i + 1]); ++e)
          kept.push_back(mfg.nodes.at(static_cast<std::size_t>(hop.indices.at(e))));
        std::sort(kept.begin(), kept.end());
        const std::vector<NodeId> row = graph_.sorted_row(mfg.nodes[i]);
        const auto limit = static_cast<std::size_t>(fanouts_[h]);  // kAllNeighbors wraps to "no limit"
        ASSERT_EQ(kept.size(), std::min(row.size(), limit)) << "min(fanout, degree) edges";
        ASSERT_TRUE(std::includes(row.begin(), row.end(), kept.begin(), kept.end())) << "no entry twice";
      }
      num_dst = hop.num_src;
    }
    EXPECT_EQ(num_dst, static_cast<LocalId>(mfg.nodes.size()));
  }

  const test::OwnedGraph graph_ = test::power_law_graph(GetParam().num_nodes, GetParam().mean_degree, 1);
  /// Weighted draws keep as many entries as the others.
  const std::vector<float> weights_ = std::vector<float>(graph_.indices.size(), 0.5F);
  const CsrGraph view_{graph_.indptr, graph_.indices, nullptr, {weights_, {}}};
  const std::vector<int>& fanouts_ = GetParam().fanouts;
  std::vector<NodeId> seeds_;
};

TEST_P(NeighborSamplerProperty, EqualsTheReferenceBatchAfterBatch) {
  NeighborSampler sampler(graph_.view(), {fanouts_});
  Mfg mfg;
  for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 0}}) {
    sampler.sample(seeds_, key, mfg);
    ASSERT_EQ(mfg, reference_sample(graph_.view(), {fanouts_}, seeds_, key));
    seeds_.resize(seeds_.size() / 2);  // reuse after a larger batch, down to none
  }
}

// Above 32 entries a row has another way to find repeats, here with fanouts on both sides, in rows that are a little
// longer and much longer than what is kept.
TEST(NeighborSampler, EqualsTheReferenceWhereRowsKeepMany) {
  const test::OwnedGraph graph = test::power_law_graph(3000, 300, 1);
  const std::vector<NodeId> seeds = {1, 2, 3, 500, 1000, 2999};
  for (const auto& fanouts : {std::vector{31, 3}, {32, 3}, {33, 3}, {100, 100}, {1000, 5}, {65535}}) {
    NeighborSampler sampler(graph.view(), {fanouts});
    for (std::uint32_t batch = 0; batch < 20; ++batch) {
      Mfg mfg;
      sampler.sample(seeds, {1, 0, batch}, mfg);
      ASSERT_EQ(mfg, reference_sample(graph.view(), {fanouts}, seeds, {1, 0, batch})) << fanouts.front();
    }
  }
}

TEST_P(NeighborSamplerProperty, EqualsTheReferenceByEveryDraw) {
  const std::vector<NodeId> all_seeds = seeds_;
  for (const auto& [draw, name] : names_of(Draw{})) {
    NeighborSampler sampler(view_, {fanouts_, draw});
    Mfg mfg;
    seeds_ = all_seeds;
    for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 0}}) {
      sampler.sample(seeds_, key, mfg);
      ASSERT_EQ(mfg, reference_sample(view_, {fanouts_, draw}, seeds_, key));
      seeds_.resize(seeds_.size() / 2);
    }
  }
}

TEST_P(NeighborSamplerProperty, WithReplacementKeepsFanoutEntriesOfEveryRowThatHasOne) {
  Mfg mfg;
  NeighborSampler(graph_.view(), {fanouts_, Draw::kWithReplacement}).sample(seeds_, {}, mfg);
  for (std::size_t h = 0; h < fanouts_.size(); ++h) {
    const MfgHop& hop = mfg.hops[fanouts_.size() - 1 - h];
    for (std::size_t i = 0; i < static_cast<std::size_t>(hop.num_dst); ++i) {
      const std::vector<NodeId> row = graph_.sorted_row(mfg.nodes[i]);
      const bool whole_row = fanouts_[h] == kAllNeighbors || row.empty();
      ASSERT_EQ(static_cast<std::size_t>(hop.indptr[i + 1] - hop.indptr[i]),
                whole_row ? row.size() : static_cast<std::size_t>(fanouts_[h]));
      for (auto e = static_cast<std::size_t>(hop.indptr[i]); e < static_cast<std::size_t>(hop.indptr[i + 1]); ++e)
        ASSERT_TRUE(std::binary_search(row.begin(), row.end(), mfg.nodes.at(static_cast<std::size_t>(hop.indices[e]))));
    }
  }
}

TEST_P(NeighborSamplerProperty, IsASubgraphOfTheRightShape) {
  for (const auto& [draw, name] : names_of(Draw{}))
    if (draw != Draw::kWithReplacement) expect_subgraph(draw);
}

// What LABOR is for: rows that share neighbours keep the same ones.
TEST(NeighborSampler, ByLaborRowsThatShareNeighboursKeepTheSame) {
  constexpr NodeId kRows = 50, kShared = 40;
  test::OwnedGraph graph;
  for (NodeId v = 0; v < kRows; ++v) {
    for (NodeId leaf = 0; leaf < kShared; ++leaf) graph.indices.push_back(kRows + (leaf + v) % kShared);
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  graph.indptr.resize(kRows + kShared + std::size_t{1}, graph.indptr.back());
  std::vector<NodeId> seeds(kRows);
  std::iota(seeds.begin(), seeds.end(), NodeId{0});
  Mfg mfg;
  NeighborSampler(graph.view(), {{7}, Draw::kLabor}).sample(seeds, {1, 2, 3}, mfg);
  EXPECT_EQ(mfg.nodes.size(), kRows + 7U);
  EXPECT_EQ(mfg.num_edges(), kRows * 7U);
  NeighborSampler(graph.view(), {{7}, Draw::kUniform}).sample(seeds, {1, 2, 3}, mfg);
  EXPECT_EQ(mfg.nodes.size(), kRows + kShared + 0U);
}

// Equal numbers go by id, equal ids by place: a row of one repeated neighbour and one that is seldom smaller.
TEST(NeighborSampler, ByLaborRepeatedNeighboursAreKeptTogether) {
  test::OwnedGraph graph;
  for (int i = 0; i < 20; ++i) graph.indices.push_back(1 + static_cast<NodeId>(i % 3));
  graph.indptr = {0, 20, 20, 20, 20};
  int num_batches_of_one = 0;
  for (std::uint32_t batch = 0; batch < 300; ++batch) {
    Mfg mfg;
    NeighborSampler(graph.view(), {{6}, Draw::kLabor}).sample(std::vector<NodeId>{0}, {1, 1, batch}, mfg);
    ASSERT_EQ(mfg.nodes.size(), 2U) << "each neighbour fills the fanout alone";
    num_batches_of_one += mfg.nodes[1] == 1;
  }
  EXPECT_NEAR(num_batches_of_one, 100, 30);
}

INSTANTIATE_TEST_SUITE_P(Generated, NeighborSamplerProperty, ::testing::ValuesIn(all_cases()));

TEST(NeighborSampler, ThreadsShareAGraphAndAgree) {
  const test::OwnedGraph graph = test::power_law_graph(1000, 20, 1);
  const std::vector<NodeId> seeds{3, 1, 4, 159};
  std::vector<Mfg> batches(64);
  BoundedQueue<std::uint32_t> queue(4);
  {
    std::vector<std::jthread> workers;
    for (int w = 0; w < 4; ++w)
      workers.emplace_back([&] {
        NeighborSampler sampler(graph.view(), {{5, 5}});
        while (const auto batch = queue.pop()) sampler.sample(seeds, {.batch = *batch}, batches[*batch]);
      });
    for (std::uint32_t batch = 0; batch < batches.size(); ++batch) EXPECT_TRUE(queue.push(batch));
    queue.close();
  }
  for (std::uint32_t batch = 0; batch < batches.size(); ++batch)
    ASSERT_EQ(batches[batch], reference_sample(graph.view(), {{5, 5}}, seeds, {.batch = batch}));
}

// Each of the C(n, k) subsets has the same probability by either draw, so the statistic is chi-square with
// C(n, k) - 1 degrees of freedom; the limits are 99.9th percentiles. Keys are fixed, so the test cannot flake.
TEST(NeighborSampler, EverySubsetIsEquallyLikely) {
  constexpr std::uint32_t kBatches = 20'000;
  struct Statistic {
    Draw draw;
    NodeId leaves;
    int fanout;
    std::size_t num_subsets;
    double limit;
  };
  using enum Draw;
  for (const auto& s : {Statistic{kUniform, 5, 1, 5, 18.47},
                        {kUniform, 5, 2, 10, 27.88},
                        {kUniform, 6, 3, 20, 43.82},
                        {kUniform, 6, 5, 6, 20.52},
                        {kLabor, 5, 1, 5, 18.47},
                        {kLabor, 5, 2, 10, 27.88},
                        {kLabor, 6, 3, 20, 43.82},
                        {kLabor, 6, 5, 6, 20.52}}) {
    const test::OwnedGraph star = test::star_graph(s.leaves);
    NeighborSampler sampler(star.view(), {{s.fanout}, s.draw});
    std::map<std::set<NodeId>, double> times_seen;
    const std::vector<NodeId> hub{0};
    Mfg mfg;
    for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
      sampler.sample(hub, {.seed = 20260101, .epoch = 0, .batch = batch}, mfg);
      times_seen[{mfg.nodes.begin() + 1, mfg.nodes.end()}] += 1;
    }
    ASSERT_EQ(times_seen.size(), s.num_subsets);
    const double expected = kBatches / static_cast<double>(s.num_subsets);
    double chi_square = 0;
    for (const auto& [subset, seen] : times_seen) chi_square += (seen - expected) * (seen - expected) / expected;
    EXPECT_LT(chi_square, s.limit) << "fanout " << s.fanout << " of " << s.leaves;
  }
}

// With replacement each of the n^k sequences has the same probability: uniform draws that are independent.
TEST(NeighborSampler, EverySequenceIsEquallyLikelyWithReplacement) {
  constexpr std::uint32_t kBatches = 20'000;
  struct Statistic {
    NodeId leaves;
    int fanout;
    std::size_t num_sequences;
    double limit;
  };
  for (const auto& s : {Statistic{5, 1, 5, 18.47}, {3, 3, 27, 54.05}, {5, 2, 25, 51.18}, {2, 5, 32, 61.10}}) {
    const test::OwnedGraph star = test::star_graph(s.leaves);
    NeighborSampler sampler(star.view(), {{s.fanout}, Draw::kWithReplacement});
    std::map<std::vector<NodeId>, double> times_seen;
    const std::vector<NodeId> hub{0};
    Mfg mfg;
    for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
      sampler.sample(hub, {.seed = 20260101, .epoch = 0, .batch = batch}, mfg);
      std::vector<NodeId> sequence;
      for (const LocalId local : mfg.hops[0].indices) sequence.push_back(mfg.nodes[static_cast<std::size_t>(local)]);
      times_seen[sequence] += 1;
    }
    ASSERT_EQ(times_seen.size(), s.num_sequences);
    const double expected = kBatches / static_cast<double>(s.num_sequences);
    double chi_square = 0;
    for (const auto& [sequence, seen] : times_seen) chi_square += (seen - expected) * (seen - expected) / expected;
    EXPECT_LT(chi_square, s.limit) << "fanout " << s.fanout << " of " << s.leaves;
  }
}

TEST(NeighborSampler, RefusesInputOutsideItsContract) {
  const test::OwnedGraph star = test::star_graph(3);
  EXPECT_THROW(NeighborSampler(star.view(), {{0}}), Error);
  EXPECT_THROW(NeighborSampler(star.view(), {{-2}}), Error);
  NeighborSampler sampler(star.view(), {{2}});
  Mfg mfg, expected = reference_sample(star.view(), {{2}}, std::vector<NodeId>{0}, {});
  EXPECT_THROW(sampler.sample(std::vector<NodeId>{4}, {}, mfg), Error) << "outside the graph";
  EXPECT_THROW(sampler.sample(std::vector<NodeId>{0, 0}, {}, mfg), Error) << "repeated";
  sampler.sample(std::vector<NodeId>{0}, {}, mfg);
  EXPECT_EQ(mfg, expected) << "and is usable afterwards";
}

}  // namespace
}  // namespace salient
