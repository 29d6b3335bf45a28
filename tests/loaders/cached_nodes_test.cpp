// tests/loaders/cached_nodes_test.cpp - chosen nodes equal the first of a sort, and batches find them.
#include "loaders/cached_nodes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "store/synthetic.h"

namespace salient {
namespace {

/// @param value_of  node -> what is sorted by, the highest first
template <class ValueOf>
std::vector<NodeId> first_of_a_sort(std::size_t num_nodes, std::size_t count, const ValueOf& value_of) {
  std::vector<NodeId> sorted(num_nodes);
  std::iota(sorted.begin(), sorted.end(), 0U);
  std::ranges::stable_sort(sorted, std::greater(), value_of);
  sorted.resize(std::min(count, num_nodes));
  std::ranges::sort(sorted);
  return sorted;
}

TEST(MostConnectedNodes, EqualTheFirstOfAStableSort) {
  std::mt19937 random(2);
  for (const unsigned longest : {1U, 5U, 200'000U})
    for (const std::size_t num_nodes : {0U, 1U, 7U, 500U}) {
      std::vector<EdgeOffset> indptr{0};
      for (std::size_t node = 0; node < num_nodes; ++node)
        indptr.push_back(indptr.back() + static_cast<EdgeOffset>(random() % longest));
      const CsrGraph graph{indptr, {}};  // the rows themselves are not read
      for (const std::size_t count : {std::size_t{0}, std::size_t{1}, num_nodes / 3, num_nodes, num_nodes + 5})
        EXPECT_EQ(most_connected_nodes(graph, count),
                  first_of_a_sort(num_nodes, count, [&](NodeId v) { return graph.degree(v); }))
            << count << " of " << num_nodes;
    }
}

TEST(MostVisitedNodes, EqualTheFirstOfAStableSort) {
  std::mt19937 random(3);
  std::vector<float> visits;
  for (int i = 0; i < 1000; ++i) visits.push_back(static_cast<float>(random() % 300) * 0.00391F);
  visits[5] = 0x1p-30F, visits[6] = 0x1.000002p-30F;  // which differ in their last bit only
  for (const std::size_t count : {0U, 1U, 500U, 996U, 997U, 998U, 999U, 1000U, 1001U})
    EXPECT_EQ(most_visited_nodes(visits, count), first_of_a_sort(1000, count, [&](NodeId v) { return visits[v]; }))
        << count;
}

/// A planted graph of communities, without the few nodes of very high degree that any policy takes.
Dataset planted_graph(double train_communities) {
  SyntheticOptions options = synthetic_of_size(60'000, 15, /*feature_dim=*/0, /*num_classes=*/100);
  options.max_degree = 40;
  options.homophily = 0.9;
  options.split = {1200, 0, 0};
  options.train_communities = train_communities;
  return make_synthetic_dataset(options);
}

/// The share of the nodes of an epoch's batches that are in a cache of a tenth of all.
double found_in(const Dataset& dataset, CachePolicy policy) {
  SamplingPlan plan{.rule = {{15, 10, 5}}, .seeds = dataset.train, .batch_size = 8, .seed = 1};
  const std::vector<NodeId> nodes = nodes_to_cache(dataset.graph, policy, plan, dataset.num_nodes() / 10);
  EXPECT_EQ(nodes.size(), dataset.num_nodes() / 10);
  plan.seed = 77;  // draws that the policy has not seen
  double all = 0, found = 0;
  const std::vector<std::uint32_t> visits = counted_visits(dataset.graph, plan, 1);
  for (const std::uint32_t count : visits) all += count;
  for (const NodeId node : nodes) found += visits[node];
  EXPECT_NEAR(share_in(NodeSet(dataset.num_nodes(), nodes), dataset.graph, plan), found / all, 0.03);
  return found / all;
}

TEST(NodesToCache, ByExpectedVisitsAreFoundTwiceAsOftenWhereTrainingNodesAreClustered) {
  const Dataset clustered = planted_graph(0.05);
  const double degree = found_in(clustered, CachePolicy::kDegree), vip = found_in(clustered, CachePolicy::kVip),
               counted = found_in(clustered, CachePolicy::kCounted);
  EXPECT_NEAR(degree, 0.24, 0.03);
  EXPECT_GE(vip, 0.6) << "0.4 were promised";
  EXPECT_NEAR(counted, vip, 0.05);
}

TEST(NodesToCache, ByExpectedVisitsAreFoundNoLessOftenWhereTrainingNodesAreAnywhere) {
  const Dataset scattered = planted_graph(1);
  EXPECT_GE(found_in(scattered, CachePolicy::kVip), found_in(scattered, CachePolicy::kDegree) - 0.02);
}

TEST(NodesToCache, AreTheBestOfThoseThatAreNotExcluded) {
  const Dataset dataset = planted_graph(0.05);
  const SamplingPlan plan{.rule = {{15, 10, 5}}, .seeds = dataset.train, .batch_size = 8, .seed = 1};
  for (const CachePolicy policy : {CachePolicy::kVip, CachePolicy::kDegree, CachePolicy::kCounted}) {
    const std::vector<NodeId> best = nodes_to_cache(dataset.graph, policy, plan, 300);
    const NodeSet excluded(dataset.num_nodes(), nodes_to_cache(dataset.graph, policy, plan, 200));
    std::vector<NodeId> expected;
    for (const NodeId node : best)
      if (excluded.index_of(node) == NodeSet::kAbsent) expected.push_back(node);
    EXPECT_EQ(nodes_to_cache(dataset.graph, policy, plan, 100, &excluded), expected);
    for (const NodeId node : nodes_to_cache(dataset.graph, policy, plan, dataset.num_nodes(), &excluded))
      EXPECT_EQ(excluded.index_of(node), NodeSet::kAbsent);
  }
}

TEST(NodesToCache, WithoutAPlanAreTheMostConnected) {
  const Dataset dataset = planted_graph(1);
  for (const CachePolicy policy : {CachePolicy::kVip, CachePolicy::kCounted})
    EXPECT_EQ(nodes_to_cache(dataset.graph, policy, {}, 100), most_connected_nodes(dataset.graph, 100));
}

/// Two types: nodes 0 to 99 with rows of 8 bytes, 100 to 149 with rows of 32, 150 to 179 without.
SlotTable three_types() {
  SlotTable slots;
  const std::uint16_t of_first[] = {0, 1}, of_second[] = {2}, of_third[] = {3};
  slots.append(100, of_first);
  slots.append(50, of_second);
  slots.append(30, of_third);
  return slots;
}

TEST(NodesToCache, OfTypesTakeTheMostVisitedThatHaveRoom) {
  const SlotTable slots = three_types();
  std::mt19937 random(5);
  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices;
  for (std::uint64_t row = 0; row < slots.num_rows(); ++row) {
    for (auto k = random() % 6; k > 0; --k) indices.push_back(static_cast<NodeId>(random() % 180));
    indptr.push_back(static_cast<EdgeOffset>(indices.size()));
  }
  const CsrGraph graph{indptr, indices, &slots};
  std::vector<NodeId> seeds(100);
  std::iota(seeds.begin(), seeds.end(), 0U);
  const SamplingPlan plan{.rule = {.fanouts = {2, 2}, .relation_fanouts = {{2, 1}, {0, 3}, {1, 0}, {2, 2}}},
                          .seeds = seeds,
                          .batch_size = 7};
  const std::vector<float> visits = expected_visits(graph, plan);
  const std::size_t bytes[] = {8, 32, 0};
  const RowSizes sizes{slots, bytes};
  const NodeSet excluded(180, std::vector<NodeId>{0, 1, 2, 120});
  const auto cost = [&](NodeId v) { return excluded.index_of(v) == NodeSet::kAbsent ? bytes[slots.type_of(v)] : 0; };
  for (const std::size_t room : {0U, 7U, 100U, 1000U, 2000U, 5000U}) {
    std::vector<NodeId> sorted(180), expected;
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::ranges::stable_sort(sorted, std::greater(), [&](NodeId v) { return visits[v]; });
    std::size_t left = room;
    float last = 2;  // of the first that had no room: others that are met as often may have
    for (const NodeId v : sorted) {
      if (cost(v) == 0 || visits[v] < last * (last <= 1 ? 1 : 0)) continue;
      if (cost(v) > left) {
        last = visits[v];
        continue;
      }
      left -= cost(v);
      expected.push_back(v);
    }
    std::ranges::sort(expected);
    EXPECT_EQ(nodes_to_cache(graph, CachePolicy::kVip, plan, room, sizes, &excluded), expected) << room;
  }
}

}  // namespace
}  // namespace salient
