// tests/sampler/excluding_device_sampler_gpu_test.cpp - sampling on the GPU without some entries gives the reference's
// batches, bit for bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "loaders/device_graph.h"
#include "loaders/graph_tiers.h"
#include "sampler/batch_sampler.h"
#include "sampler/reference_sampler.h"
#include "tests/support/excluded_keys.h"
#include "tests/support/graphs.h"
#include "tests/support/sampled_arrays.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/scratch.h"
#include "tests/support/timed_graph.h"
#include "tests/support/typed_rows.h"

namespace salient {
namespace {

using test::sample_with;

test::WeightedGraph graph_of(NodeId num_nodes, double mean_degree) {
  return test::weighted(test::sorted(test::power_law_graph(num_nodes, mean_degree, 1)));
}

std::vector<NodeId> seeds_of(NodeId num_nodes) {
  std::vector<NodeId> seeds;
  for (NodeId v = num_nodes; v-- > 0 && seeds.size() < 600;)
    if (v % 2 == 0) seeds.push_back(v);
  return seeds;
}

Mfg expected_of(const CsrGraph& graph, const SamplingRule& rule, std::span<const NodeId> seeds, BatchKey key,
                std::span<const EntryKey> keys) {
  const Exclusions excluded = test::exclusions_of(graph, keys);
  return reference_excluding_sample(graph, rule, seeds, key, [&](NodeId v) { return excluded.of(v); });
}

// Sizes of batches change, so that a table is made in memory that another batch has used.
TEST(ExcludingDeviceSampler, EqualsTheReferenceByEveryDraw) {
  for (const auto& [num_nodes, mean_degree] :
       {std::pair{1U, 0.0}, {60U, 3.0}, {700U, 1.0}, {700U, 60.0}, {20'000U, 20.0}}) {
    const test::WeightedGraph graph = graph_of(num_nodes, mean_degree);
    const std::vector<float> values(num_nodes, 1);
    const DeviceGraph whole(graph.view()),
        half(graph.view(), GraphTiers(graph.view(), values, graph.indices.size() / 2));
    const std::vector<NodeId> all_seeds = seeds_of(num_nodes);
    for (const auto& [draw, name] : names_of(Draw{}))
      for (const auto& fanouts : {std::vector{3, 2}, {40, kAllNeighbors}, {15, 10, 5}, {100}}) {
        if (num_nodes > 1000 && fanouts.back() == kAllNeighbors) continue;  // nearly the whole graph
        const SamplingRule rule{fanouts, draw};
        for (const DeviceGraph* const there : {&whole, &half}) {
          const auto sampler = there->make_sampler(rule);
          std::vector<EntryKey> keys;
          sampler->leave_out(&keys);
          std::span<const NodeId> seeds = all_seeds;
          for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 2, 3}, {2, 2, 1}}) {
            keys = test::random_keys(graph.view(), key.batch);
            if (key.batch == 3) keys.resize(keys.size() / 5);
            ASSERT_EQ(sample_with(*sampler, seeds, key), expected_of(graph.view(), rule, seeds, key, keys))
                << name << ", " << num_nodes << " nodes, fanout " << fanouts.front();
            seeds = seeds.first(seeds.size() / 2);
          }
          keys.clear();
          ASSERT_EQ(sample_with(*sampler, all_seeds, {4, 0, 0}),
                    reference_sample(graph.view(), rule, all_seeds, {4, 0, 0}));
        }
      }
  }
}

// Every entry of a hub is excluded but one; then all of them.
TEST(ExcludingDeviceSampler, ARowMayLoseNearlyAllOfItsEntriesOrAll) {
  constexpr NodeId kNodes = 3000;
  test::OwnedGraph star;
  for (NodeId v = 1; v < kNodes; ++v) star.indices.insert(star.indices.end(), v % 3 == 0 ? 3 : 1, v);
  star.indptr.push_back(static_cast<EdgeOffset>(star.indices.size()));
  for (NodeId v = 1; v < kNodes; ++v) {
    star.indices.push_back(0);
    star.indptr.push_back(static_cast<EdgeOffset>(star.indices.size()));
  }
  const DeviceGraph on_device(star.view());
  const std::vector<NodeId> seeds{0, 17, 5};
  for (const NodeId kept : {17U, kNodes}) {
    std::vector<EntryKey> keys;
    for (NodeId v = 1; v < kNodes; ++v)
      if (v != kept) keys.push_back(entry_key(0, v));
    for (const auto& fanouts : {std::vector{15, 10, 5}, {1}, {kAllNeighbors, 2}}) {
      const auto sampler = on_device.make_sampler({fanouts});
      sampler->leave_out(&keys);
      const Mfg found = sample_with(*sampler, seeds, {1, 1, 1});
      ASSERT_EQ(found, expected_of(star.view(), {fanouts}, seeds, {1, 1, 1}, keys));
      EXPECT_EQ(found.hops.back().indptr[1], kept == kNodes ? 0 : 1);
    }
  }
}

TEST(ExcludingDeviceSampler, EqualsTheHostOverRandomSchemas) {
  for (std::uint32_t seed = 0; seed < 150; ++seed) {
    std::mt19937 random(seed);
    const test::TypedRows rows = test::random_rows(random);
    const SamplingRule rule = test::random_rule(random, rows);
    const DeviceGraph graph(rows.view());
    const std::unique_ptr<BatchSampler> on_device = graph.make_sampler(rule);
    std::vector<EntryKey> keys;
    on_device->leave_out(&keys);
    Exclusions excluded;
    ExcludingBatchSampler on_host(rows.view(), rule, excluded);
    for (std::uint32_t batch = 0; batch < 3; ++batch) {
      keys = test::random_keys(rows.view(), seed + batch);
      excluded = test::exclusions_of(rows.view(), keys);
      const std::vector<NodeId> seeds = test::random_seeds(random, rows.slots.num_nodes());
      const BatchKey key{seed, 1, batch};
      ASSERT_EQ(test::first_difference(test::arrays_of(*on_device, seeds, key), test::arrays_of(on_host, seeds, key)),
                "")
          << "case " << seed << ", batch " << batch;
    }
  }
}

TEST(ExcludingDeviceSampler, RefusesRowsInTheOrderOfTimes) {
  const test::TimedGraph graph = test::timed(graph_of(100, 5), 20);
  const DeviceGraph on_device(graph.view());
  const std::vector<EntryKey> keys;
  EXPECT_THROW(on_device.make_sampler({{2}})->leave_out(&keys), Error);
}

}  // namespace
}  // namespace salient
