// tests/sampler/expected_visits_test.cpp - chances equal the formula in double, and what sampling finds.
#include "sampler/expected_visits.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/arena_of.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/reference_sampler.h"
#include "sampler/seed_order.h"
#include "tests/support/graphs.h"

namespace salient {
namespace {

double keep_chance(double degree, int fanout, Draw draw) {
  if (fanout == kAllNeighbors) return 1;
  return draw == Draw::kWithReplacement ? 1 - std::pow(1 - 1 / degree, fanout) : std::min(1.0, fanout / degree);
}

double weighted_chance(const CsrGraph& graph, std::size_t u, std::size_t i, int fanout) {
  const std::span<const float> weights = graph.weights_of(u);
  if (weights[i] == 0 || fanout == kAllNeighbors) return weights[i] > 0;
  double sum = 0;
  for (const float weight : weights) sum += double{weight};
  return std::min(1.0, fanout * double{weights[i]} / sum);
}

/// The formula, as it is written.
std::vector<double> chances_of(const CsrGraph& graph, const SamplingPlan& plan) {
  std::vector<double> met(graph.num_nodes());
  for (const NodeId seed : plan.seeds)
    met[seed] = std::min(1.0, static_cast<double>(plan.batch_size) / static_cast<double>(plan.seeds.size()));
  for (const int fanout : plan.rule.fanouts) {
    std::vector<double> missed(met.size());
    for (std::size_t v = 0; v < met.size(); ++v) missed[v] = 1 - met[v];
    for (std::size_t u = 0; u < met.size(); ++u) {
      const std::span<const NodeId> row = graph.row(u);
      for (std::size_t i = 0; i < row.size(); ++i)
        missed[row[i]] *=
            1 - met[u] * (plan.rule.draw == Draw::kWeighted ? weighted_chance(graph, u, i, fanout)
                                                            : keep_chance(graph.degree(u), fanout, plan.rule.draw));
    }
    for (std::size_t v = 0; v < met.size(); ++v) met[v] = 1 - missed[v];
  }
  return met;
}

std::vector<NodeId> every(NodeId step, NodeId end) {
  std::vector<NodeId> nodes;
  for (NodeId v = 0; v < end; v += step) nodes.push_back(v);
  return nodes;
}

TEST(ExpectedVisits, EqualTheFormula) {
  // directed, with repeated entries and empty rows
  const test::WeightedGraph graph = test::weighted(test::power_law_graph(500, 6, 3));
  const std::vector<NodeId> some = every(7, 500), one{499};
  for (const auto& [draw, name] : names_of(Draw{}))
    for (const std::vector<int>& fanouts : std::vector<std::vector<int>>{{3}, {15, 10, 5}, {2, kAllNeighbors}})
      for (const SamplingPlan& plan : {SamplingPlan{{fanouts, draw}, some, 5}, SamplingPlan{{fanouts, draw}, some, 500},
                                       SamplingPlan{{fanouts, draw}, one, 1}}) {
        const std::vector<float> found = expected_visits(graph.view(), plan);
        const std::vector<double> expected = chances_of(graph.view(), plan);
        for (std::size_t v = 0; v < found.size(); ++v) ASSERT_NEAR(found[v], expected[v], 1e-6) << "node " << v;
      }
}

TEST(ExpectedVisits, AreTheSameOnAnyNumberOfThreads) {
  const test::OwnedGraph graph = test::power_law_graph(30'000, 12, 4);
  const std::vector<NodeId> seeds = every(11, 30'000);
  const SamplingPlan plan{.rule = {{5, 5}}, .seeds = seeds, .batch_size = 64};
  const auto on_threads = [&](int num_threads) {
    oneapi::tbb::task_arena arena = arena_of(num_threads);
    return arena.execute(
        [&] { return std::pair(expected_visits(graph.view(), plan), counted_visits(graph.view(), plan, 1)); });
  };
  const auto expected = on_threads(1);
  EXPECT_EQ(on_threads(2), expected);
  EXPECT_EQ(on_threads(4), expected);
}

TEST(ExpectedVisits, OfANodeThatMillionsCertainlyMeetAreNoMoreThanCertain) {
  test::OwnedGraph star;  // whose sum of logarithms would be beyond 63 bits
  constexpr NodeId kHub = 3'500'000;
  for (NodeId v = 0; v < kHub; ++v) star.indptr.push_back(v + EdgeOffset{1});
  star.indptr.push_back(kHub);
  star.indices.assign(kHub, kHub);
  const std::vector<NodeId> seeds = every(1, kHub);
  const std::vector<float> met = expected_visits(
      star.view(), {.rule = {{kAllNeighbors, kAllNeighbors}}, .seeds = seeds, .batch_size = seeds.size()});
  EXPECT_EQ(met[kHub], 1);
  EXPECT_EQ(met[0], 1);
}

/// Each node has eight neighbours that are drawn from all nodes, so that two ways to a node are rare.
test::OwnedGraph graph_without_communities(NodeId num_nodes) {
  test::OwnedGraph graph;
  for (NodeId v = 0; v < num_nodes; ++v) {
    for (std::uint32_t block = 0; block < 2; ++block)
      for (const std::uint32_t word : philox4x32({}, {{v, block, 0, 0}}).word)
        graph.indices.push_back(word % num_nodes);
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  return graph;
}

/// The number of visits that are counted over the number that is expected.
double counted_of_expected(const std::vector<int>& fanouts) {
  const test::OwnedGraph graph = graph_without_communities(20'000);
  const std::vector<NodeId> seeds = every(97, 20'000);
  const SamplingPlan plan{.rule = {fanouts}, .seeds = seeds, .batch_size = 2, .seed = 1};
  constexpr std::uint32_t kEpochs = 100;
  const double num_batches = kEpochs * static_cast<double>(num_global_batches(seeds.size(), plan.batch_size));
  const std::vector<float> chances = expected_visits(graph.view(), plan);
  const std::vector<std::uint32_t> counted = counted_visits(graph.view(), plan, kEpochs);
  double all_expected = 0, all_counted = 0;
  for (std::size_t v = 0; v < chances.size(); ++v) {
    const double expected = num_batches * chances[v];
    EXPECT_NEAR(counted[v], expected, 5 * std::sqrt(expected) + 3) << "node " << v;
    all_expected += expected;
    all_counted += counted[v];
  }
  return all_counted / all_expected;
}

TEST(ExpectedVisits, AreWhatSamplingFinds) {
  EXPECT_NEAR(counted_of_expected({4}), 1, 0.005);
  EXPECT_NEAR(counted_of_expected({4, 3}), 0.92, 0.01) << "a seed's second draw repeats some of its first";
}

TEST(CountedVisits, EqualTheReferenceSamplersBatches) {
  const test::OwnedGraph graph = test::power_law_graph(300, 5, 6);
  const std::vector<NodeId> seeds = every(3, 300);
  const SamplingPlan plan{.rule = {{3, 2}, Draw::kWithReplacement}, .seeds = seeds, .batch_size = 16, .seed = 9};
  std::vector<std::uint32_t> expected(300);
  for (const std::uint32_t epoch : {1U, 2U}) {
    std::vector<NodeId> order = seeds;
    shuffle_seeds(order, plan.seed, epoch);
    for (std::uint32_t b = 0; b * std::size_t{16} < order.size(); ++b) {
      const auto batch =
          std::span(order).subspan(b * std::size_t{16}, std::min<std::size_t>(16, order.size() - b * std::size_t{16}));
      for (const NodeId node : reference_sample(graph.view(), plan.rule, batch, {9, epoch, b}).nodes) ++expected[node];
    }
  }
  EXPECT_EQ(counted_visits(graph.view(), plan, 2), expected);
}

TEST(ExpectedVisits, OfATypedGraphAreTheChancesOfItsSlots) {
  SlotTable slots;
  const std::uint16_t of_first[] = {0, 1}, of_second[] = {2};
  slots.append(40, of_first);
  slots.append(30, of_second);
  const test::OwnedGraph rows = test::power_law_graph(110, 4, 6);  // a row for each slot
  auto indices = rows.indices;
  for (NodeId& u : indices) u %= 70;
  const CsrGraph graph{rows.indptr, indices, &slots};
  const std::vector<NodeId> seeds = every(3, 40);
  for (const auto& [draw, name] : names_of(Draw{})) {
    if (draw == Draw::kWeighted) continue;
    const SamplingPlan plan{.rule = {.fanouts = {1, 1}, .draw = draw, .relation_fanouts = {{3, 0}, {0, 2}, {2, -1}}},
                            .seeds = seeds,
                            .batch_size = 4};
    std::vector<double> met(70);
    for (const NodeId seed : seeds) met[seed] = 4.0 / static_cast<double>(seeds.size());
    for (std::size_t hop = 0; hop < 2; ++hop) {
      std::vector<double> missed(70);
      for (std::size_t v = 0; v < 70; ++v) missed[v] = 1 - met[v];
      for (std::size_t row = 0; row < 110; ++row) {
        const std::size_t node = row < 80 ? row / 2 : row - 40, relation = row < 80 ? row % 2 : 2;
        const int fanout = plan.rule.relation_fanouts[relation][hop];
        for (const NodeId u : graph.row(row))
          if (fanout != 0) missed[u] *= 1 - met[node] * keep_chance(graph.degree(row), fanout, draw);
      }
      for (std::size_t v = 0; v < 70; ++v) met[v] = 1 - missed[v];
    }
    const std::vector<float> found = expected_visits(graph, plan);
    for (std::size_t v = 0; v < 70; ++v) ASSERT_NEAR(found[v], met[v], 1e-6) << name << ", node " << v;
  }
}

}  // namespace
}  // namespace salient
