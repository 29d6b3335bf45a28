// tests/sampler/device_sampler_gpu_test.cpp - sampling on the GPU gives the reference's batches, bit for bit.
#include "sampler/device_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "loaders/device_graph.h"
#include "loaders/graph_tiers.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"
#include "tests/support/sampled_mfg.h"
#include "tests/support/sampler_case.h"

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
  const test::OwnedGraph graph = test::power_law_graph(c.num_nodes, c.mean_degree, 1);
  const DeviceGraph whole(graph.view()), none_hot(graph.view(), random_tiers(graph, 0)),
      some_hot(graph.view(), random_tiers(graph, 0.4)), all_hot(graph.view(), random_tiers(graph, 1));
  std::vector<NodeId> all_seeds;  // highest first: the order of seeds must survive
  for (NodeId v = c.num_nodes; v-- > 0 && all_seeds.size() < 2000;)
    if (v % 3 == 0) all_seeds.push_back(v);
  for (const EnumName<Draw>& row : names_of(Draw{})) {
    const Draw draw = row.value;
    if (!has_device_draw(draw)) continue;
    std::vector<std::unique_ptr<BatchSampler>> samplers;
    for (const DeviceGraph* const graph_there : {&whole, &none_hot, &some_hot, &all_hot})
      samplers.push_back(graph_there->make_sampler({c.fanouts, draw}));
    const auto expect_reference = [&](std::span<const NodeId> seeds, const BatchKey& key) {
      const Mfg expected = reference_sample(graph.view(), {c.fanouts, draw}, seeds, key);
      for (std::size_t i = 0; i < samplers.size(); ++i)
        ASSERT_EQ(sample_with(*samplers[i], seeds, key), expected) << "sampler " << i;
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
