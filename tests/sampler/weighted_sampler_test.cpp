// tests/sampler/weighted_sampler_test.cpp - draws by weight have the exact law, and the reference's bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <thread>
#include <vector>

#include "core/error.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

using test::WeightedGraph;

TEST(WeightedSampler, EqualsTheReferenceBatchAfterBatch) {
  for (const double mean_degree : {0.0, 1.0, 9.0, 50.0, 300.0}) {
    const WeightedGraph graph = test::weighted(test::power_law_graph(3000, mean_degree, 1));
    for (const auto& fanouts : {std::vector{1}, {15, 10, 5}, {2, kAllNeighbors}, {100}, {1000, 3}}) {
      NeighborSampler sampler(graph.view(), {fanouts, Draw::kWeighted});
      Mfg mfg;
      std::vector<NodeId> seeds;
      for (NodeId v = 3000; v-- > 0;)
        if (v % 97 == 0) seeds.push_back(v);
      for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 0}}) {
        sampler.sample(seeds, key, mfg);
        ASSERT_EQ(mfg, reference_sample(graph.view(), {fanouts, Draw::kWeighted}, seeds, key)) << fanouts.front();
        seeds.resize(seeds.size() / 2);
      }
    }
  }
}

TEST(WeightedSampler, NeverDrawsAWeightOfZero) {
  WeightedGraph graph = test::weighted(test::power_law_graph(2000, 30, 2));
  std::vector<NodeId> seeds(200);
  std::iota(seeds.begin(), seeds.end(), NodeId{0});
  for (const int fanout : {3, 25, 1000, kAllNeighbors}) {
    NeighborSampler sampler(graph.view(), {{fanout}, Draw::kWeighted});
    Mfg mfg;
    sampler.sample(seeds, {1, 2, 3}, mfg);
    for (std::size_t i = 0; i < seeds.size(); ++i) {
      std::map<NodeId, int> weighty;
      for (auto e = graph.indptr[i]; e < graph.indptr[i + 1]; ++e)
        if (graph.weights[static_cast<std::size_t>(e)] > 0) ++weighty[graph.indices[static_cast<std::size_t>(e)]];
      int num_weighty = 0;
      for (const auto& [node, count] : weighty) num_weighty += count;
      const LocalId begin = mfg.hops[0].indptr[i], end = mfg.hops[0].indptr[i + 1];
      ASSERT_EQ(end - begin, fanout == kAllNeighbors ? num_weighty : std::min(fanout, num_weighty));
      for (LocalId e = begin; e < end; ++e) {
        const LocalId local = mfg.hops[0].indices[static_cast<std::size_t>(e)];
        ASSERT_GE(--weighty[mfg.nodes[static_cast<std::size_t>(local)]], 0) << "no entry twice";
      }
    }
  }
}

/// The chance of every subset of `count` places: sums over the orders in which they are drawn one after another.
std::map<unsigned, double> subset_chances(const std::vector<float>& weights, int count) {
  std::map<unsigned, double> chances{{0, 1.0}};
  for (int i = 0; i < count; ++i) {
    std::map<unsigned, double> next;
    for (const auto& [subset, chance] : chances) {
      double left = 0;
      for (std::size_t p = 0; p < weights.size(); ++p)
        if ((subset >> p & 1) == 0) left += double{weights[p]};
      for (std::size_t p = 0; p < weights.size(); ++p)
        if ((subset >> p & 1) == 0 && weights[p] > 0) next[subset | 1U << p] += chance * double{weights[p]} / left;
    }
    chances = std::move(next);
  }
  return chances;
}

/// Of 10^6 draws from a row of these weights, in units of its standard deviation beyond its mean.
double excess_of_chi_square(const std::vector<float>& weights, int count) {
  constexpr std::uint32_t kBatches = 1'000'000;
  WeightedGraph star = test::weighted(test::star_graph(static_cast<NodeId>(weights.size())));
  std::copy(weights.begin(), weights.end(), star.weights.begin());
  NeighborSampler sampler(star.view(), {{count}, Draw::kWeighted});
  std::map<unsigned, double> seen;
  Mfg mfg;
  const std::vector<NodeId> hub{0};
  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    sampler.sample(hub, {.seed = 20260101, .epoch = 0, .batch = batch}, mfg);
    unsigned subset = 0;
    for (std::size_t i = 1; i < mfg.nodes.size(); ++i) subset |= 1U << (mfg.nodes[i] - 1);
    seen[subset] += 1;
  }
  double chi_square = 0, degrees = -1;
  for (const auto& [subset, chance] : subset_chances(weights, count)) {
    const double expected = chance * kBatches, found = std::exchange(seen[subset], 0);
    chi_square += (found - expected) * (found - expected) / expected;
    degrees += 1;
  }
  for (const auto& [subset, count_of_impossible] : seen) EXPECT_EQ(count_of_impossible, 0) << subset;
  return degrees == 0 ? 0 : (chi_square - degrees) / std::sqrt(2 * degrees);
}

// Keys are fixed, so this cannot flake; 3.5 deviations are beyond the 99.8th percentile for so few degrees of freedom.
// pyg#5345: neighbours by the weights of their edges.
TEST(WeightedSampler, EverySubsetHasTheChanceOfSuccessiveDraws) {
  for (const auto& weights : {std::vector<float>{1, 2, 3, 4, 5}, {1, 1, 1, 1, 1}, {0.01F, 5, 0, 1, 1}})
    for (const int count : {1, 2, 3})
      EXPECT_LT(excess_of_chi_square(weights, count), 3.5) << count << " of weights such as " << weights[1];
}

TEST(WeightedSampler, OneOfAnotherSizeIsAlwaysFirst) {
  WeightedGraph star = test::weighted(test::star_graph(40));
  std::fill(star.weights.begin(), star.weights.end(), 1e-30F);
  star.weights[17] = 1e30F;
  NeighborSampler sampler(star.view(), {{3}, Draw::kWeighted});
  std::vector<int> seen(41);
  constexpr int kBatches = 40'000;
  for (std::uint32_t batch = 0; batch < kBatches; ++batch) {
    Mfg mfg;
    sampler.sample(std::vector<NodeId>{0}, {3, 0, batch}, mfg);
    ASSERT_EQ(mfg.nodes.size(), 4U);
    for (const NodeId node : mfg.nodes) ++seen[node];
  }
  EXPECT_EQ(seen[18], kBatches);
  seen[18] = kBatches * 2 / 39;
  for (NodeId leaf = 1; leaf <= 40; ++leaf) EXPECT_NEAR(seen[leaf], kBatches * 2 / 39, 250) << "the others are uniform";
}

TEST(WeightedSampler, ThreadsAgree) {
  const WeightedGraph graph = test::weighted(test::power_law_graph(1000, 20, 1));
  const std::vector<NodeId> seeds{3, 1, 4, 159};
  const SamplingRule rule{{5, 5}, Draw::kWeighted};
  std::array<Mfg, 4> found;
  {
    std::vector<std::jthread> workers;
    for (Mfg& mfg : found)
      workers.emplace_back([&] { NeighborSampler(graph.view(), rule).sample(seeds, {7, 1, 2}, mfg); });
  }
  for (const Mfg& mfg : found) EXPECT_EQ(mfg, reference_sample(graph.view(), rule, seeds, {7, 1, 2}));
}

TEST(WeightedSampler, RefusesAGraphWithoutWeights) {
  const test::OwnedGraph star = test::star_graph(3);
  EXPECT_THROW(NeighborSampler(star.view(), {{2}, Draw::kWeighted}), Error);
}

}  // namespace
}  // namespace salient
