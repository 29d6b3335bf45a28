// tests/sampler/device_sampler_gpu_test.cpp - sampling on the GPU gives the reference's batches, bit for bit.
#include "sampler/device_sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "loaders/device_graph.h"
#include "loaders/graph_tiers.h"
#include "sampler/reference_sampler.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/sampler_case.h"
#include "tests/support/scratch.h"
#include "tests/support/timed_graph.h"

namespace salient {
namespace {

using test::sample_with;
using test::SamplerCase;

std::vector<SamplerCase> all_cases() {
  std::vector<SamplerCase> cases;
  for (const NodeId num_nodes : {1u, 60u, 3000u, 200'000u})
    for (const double mean_degree : {0.0, 1.0, 9.0, 50.0})
      for (const auto& fanouts : {std::vector{1}, {15, 10, 5}, {2, kAllNeighbors}, {100}, {kAllNeighbors, 3}})
        cases.push_back({num_nodes, mean_degree, fanouts});
  return cases;
}

/// Any rows are hot, with about this share of the entries; the others are in pinned host memory.
GraphTiers random_tiers(const test::OwnedGraph& graph, double share) {
  std::vector<float> values(graph.view().num_nodes());
  for (NodeId v = 0; v < values.size(); ++v)
    values[v] = static_cast<float>(philox4x32({{7, 9}}, {{v, 0, 0, 0}}).word[0] >> 8);
  return {graph.view(), values, static_cast<std::size_t>(share * static_cast<double>(graph.indices.size()))};
}

class DeviceSamplerTest : public ::testing::TestWithParam<SamplerCase> {};

TEST_P(DeviceSamplerTest, EqualsTheReferenceBatchAfterBatch) {
  const SamplerCase& c = GetParam();
  const test::WeightedGraph graph = test::weighted(test::power_law_graph(c.num_nodes, c.mean_degree, 1));
  const DeviceGraph whole(graph.view()), none_hot(graph.view(), random_tiers(graph, 0)),
      some_hot(graph.view(), random_tiers(graph, 0.4)), all_hot(graph.view(), random_tiers(graph, 1));
  std::vector<NodeId> all_seeds;  // highest first: the order of seeds must survive
  for (NodeId v = c.num_nodes; v-- > 0 && all_seeds.size() < 2000;)
    if (v % 3 == 0) all_seeds.push_back(v);
  for (const EnumName<Draw>& row : names_of(Draw{})) {
    const Draw draw = row.value;
    std::vector<std::unique_ptr<BatchSampler>> samplers;
    for (const DeviceGraph* const graph_there : {&whole, &none_hot, &some_hot, &all_hot})
      samplers.push_back(graph_there->make_sampler({c.fanouts, draw}));
    const auto expect_reference = [&](std::span<const NodeId> seeds, const BatchKey& key) {
      const Mfg expected = reference_sample(graph.view(), {c.fanouts, draw}, seeds, key);
      for (std::size_t i = 0; i < samplers.size(); ++i)
        ASSERT_EQ(sample_with(*samplers[i], seeds, key), expected) << "sampler " << i << ", " << row.name;
    };
    std::span<const NodeId> seeds = all_seeds;
    for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 0}}) {
      ASSERT_NO_FATAL_FAILURE(expect_reference(seeds, key));
      seeds = seeds.first(seeds.size() / 2);  // reuse after a larger batch, down to none
    }
    ASSERT_NO_FATAL_FAILURE(expect_reference(all_seeds, {3, 0, 0}));
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, DeviceSamplerTest, ::testing::ValuesIn(all_cases()));

// All weights of a row are compared by their finishes alone: equal ones, powers of two, and factors of 10^60.
TEST(DeviceSampler, RacesAsTheHostByWeightsOfAnySize) {
  test::WeightedGraph graph = test::weighted(test::power_law_graph(400, 60, 3));
  for (const int kind : {0, 1, 2, 3}) {
    for (std::size_t e = 0; e < graph.weights.size(); ++e) {
      const std::uint32_t draw = philox4x32({{11, 1}}, {{static_cast<std::uint32_t>(e), 0, 0, 0}}).word[0];
      graph.weights[e] = kind == 0   ? 1.0F
                         : kind == 1 ? std::ldexp(1.0F, static_cast<int>(draw % 5))
                         : kind == 2 ? (draw % 2 == 0 ? 1e-30F : 1e30F)
                                     : (draw % 3 == 0 ? 1e-41F : 0.0F);  // below the least normal number
    }
    const DeviceGraph on_device(graph.view());
    std::vector<NodeId> seeds(400);
    std::iota(seeds.begin(), seeds.end(), NodeId{0});
    for (const auto& fanouts : {std::vector{1}, {5, 3}, {40}, {kAllNeighbors}}) {
      const auto sampler = on_device.make_sampler({fanouts, Draw::kWeighted});
      for (std::uint32_t batch = 0; batch < 20; ++batch)
        ASSERT_EQ(sample_with(*sampler, seeds, {7, 1, batch}),
                  reference_sample(graph.view(), {fanouts, Draw::kWeighted}, seeds, {7, 1, batch}))
            << "kind " << kind << ", fanout " << fanouts.front();
    }
  }
}

/// When nodes are seeds: few times, so that trees of one time share nodes, and those of others do not.
std::vector<std::int64_t> times_of_nodes(std::size_t count, std::uint32_t most) {
  std::vector<std::int64_t> times;
  for (std::size_t v = 0; v < count; ++v)
    times.push_back(philox4x32({{6, 6}}, {{static_cast<std::uint32_t>(v), 0, 0, 0}}).word[0] % (most + 2));
  return times;
}

TEST(DeviceSampler, SeesThePastOfEachSeedAsTheReference) {
  for (const auto& [num_nodes, mean_degree] :
       {std::pair{1U, 0.0}, {700U, 1.0}, {700U, 9.0}, {700U, 60.0}, {60'000U, 20.0}}) {
    const test::TimedGraph graph = test::timed(test::weighted(test::power_law_graph(num_nodes, mean_degree, 1)), 20);
    const std::vector<std::int64_t> node_times = times_of_nodes(num_nodes, 20);
    const DeviceGraph whole(graph.view()), half(graph.view(), random_tiers(graph, 0.5));
    std::vector<NodeId> all_seeds;
    for (NodeId v = num_nodes; v-- > 0 && all_seeds.size() < 500;)
      if (v % 2 == 0) all_seeds.push_back(v);
    for (const TimeRule& time : test::all_time_rules())
      for (const auto& [draw, name] : names_of(Draw{}))
        for (const auto& fanouts : {std::vector{3, 2}, {40, kAllNeighbors}, {4, 3, 2}}) {
          if (time.strategy == TimeStrategy::kLast && draw != Draw::kUniform) continue;
          if (num_nodes > 1000 && fanouts.back() == kAllNeighbors) continue;  // nearly the whole graph
          const SamplingRule rule{fanouts, draw};
          const auto sampler = whole.make_sampler(rule, time, node_times);
          const auto of_half = half.make_sampler(rule, time, node_times);
          std::span<const NodeId> seeds = all_seeds;
          for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 2, 3}}) {
            std::vector<std::int64_t> seed_times;
            for (const NodeId seed : seeds) seed_times.push_back(node_times[seed]);
            const TemporalMfg expected = reference_temporal_sample(graph.view(), rule, time, seeds, seed_times, key);
            const auto what = std::string(name) + " " + name_of(time.order) + " " + name_of(time.strategy) + " " +
                              std::to_string(time.window.value_or(0));
            ASSERT_EQ(sample_with(*sampler, seeds, key), expected.mfg) << what;
            ASSERT_EQ(sample_with(*of_half, seeds, key), expected.mfg) << what << ", half of the graph";
            seeds = seeds.first(seeds.size() / 3);
          }
        }
  }
}

TEST(DeviceSampler, RefusesTimesAndWeightsThatItDoesNotHave) {
  const test::TimedGraph graph = test::timed(test::weighted(test::power_law_graph(100, 5, 1)), 20);
  const std::vector<std::int64_t> node_times(100, 10);
  const DeviceGraph with(graph.view()), without(static_cast<const test::OwnedGraph&>(graph).view());
  EXPECT_COMPLAINT((void)without.make_sampler({{2}, Draw::kWeighted}), ErrorKind::kUsage, "have no weights");
  EXPECT_COMPLAINT((void)without.make_sampler({{2}}, TimeRule{}, node_times), ErrorKind::kUsage, "have no times");
  EXPECT_COMPLAINT((void)with.make_sampler({{2}}, TimeRule{.window = 0}, node_times), ErrorKind::kUsage, "at least 1");
  EXPECT_COMPLAINT((void)with.make_sampler({{2}, Draw::kLabor}, TimeRule{.strategy = TimeStrategy::kLast}, node_times),
                   ErrorKind::kUsage, "not by labor");
  EXPECT_THROW((void)with.csr(), Error) << "rows do not ascend by neighbour";
}

TEST(DeviceSampler, WritesTheDegreesOfABatchIfAsked) {
  for (const double mean_degree : {0.0, 1.0, 50.0}) {
    const test::OwnedGraph graph = test::sorted(test::power_law_graph(3000, mean_degree, 1));
    const DeviceGraph whole(graph.view()), half(graph.view(), random_tiers(graph, 0.5));
    for (const std::size_t num_seeds : {0u, 1u, 699u, 700u}) {
      const auto sampler = (num_seeds == 700 ? half : whole).make_sampler({{5, 3}});
      std::vector<NodeId> seeds;
      for (NodeId v = 0; v < num_seeds; ++v) seeds.push_back(2999 - 4 * v);
      const MfgShape shape = sampler->sample(seeds, {1, 2, 3});
      std::vector<NodeId> nodes(static_cast<std::size_t>(shape.num_nodes));
      std::vector<std::vector<LocalId>> arrays;
      for (const MfgShape::Hop& hop : shape.hops) {
        arrays.emplace_back(static_cast<std::size_t>(hop.num_dst) + 1);
        arrays.emplace_back(static_cast<std::size_t>(hop.num_edges));
      }
      const std::vector<MfgMemory::Hop> hops{{arrays[0].data(), arrays[1].data()},
                                             {arrays[2].data(), arrays[3].data()}};
      std::vector<NodeDegree> degrees(nodes.size(), {-1, -1});
      sampler->copy_to({nodes.data(), hops, degrees.data()});
      EXPECT_EQ(degrees, test::counted_degrees(graph.view(), nodes));
    }
  }
}

TEST(DeviceSampler, RefusesInputOutsideItsContract) {
  const test::OwnedGraph graph = test::power_law_graph(100, 5, 1);
  const DeviceGraph on_device(graph.view());
  EXPECT_THROW(on_device.make_sampler({{0}}), Error);
  const auto sampler = on_device.make_sampler({{2}});
  EXPECT_THROW(sampler->sample(std::vector<NodeId>{100}, {}), Error);
  EXPECT_THROW(sampler->sample(std::vector<NodeId>{3, 3}, {}), Error);
  const std::vector<NodeId> seeds{3, 4};
  EXPECT_EQ(sample_with(*sampler, seeds, {}), reference_sample(graph.view(), {{2}}, seeds, {}));
}

}  // namespace
}  // namespace salient
