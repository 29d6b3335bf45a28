// tests/sampler/device_sampler_gpu_test.cpp - sampling on the GPU gives the reference's batches, bit for bit.
#include "sampler/device_sampler.h"

#include <gtest/gtest.h>

#include <vector>

#include "core/error.h"
#include "loaders/device_graph.h"
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

class DeviceSamplerTest : public ::testing::TestWithParam<SamplerCase> {};

TEST_P(DeviceSamplerTest, EqualsTheReferenceBatchAfterBatch) {
  const SamplerCase& c = GetParam();
  const test::OwnedGraph graph = test::power_law_graph(c.num_nodes, c.mean_degree, 1);
  const DeviceGraph on_device(graph.view());
  std::vector<NodeId> all_seeds;  // highest first: the order of seeds must survive
  for (NodeId v = c.num_nodes; v-- > 0 && all_seeds.size() < 2000;)
    if (v % 3 == 0) all_seeds.push_back(v);
  for (const Replacement replacement : {Replacement::kWithout, Replacement::kWith, Replacement::kLabor}) {
    const auto sampler = on_device.make_sampler(c.fanouts, replacement);
    std::span<const NodeId> seeds = all_seeds;
    for (const BatchKey key : {BatchKey{1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {2, 0, 0}}) {
      ASSERT_EQ(sample_with(*sampler, seeds, key), reference_sample(graph.view(), c.fanouts, seeds, key, replacement));
      seeds = seeds.first(seeds.size() / 2);  // reuse after a larger batch, down to none
    }
    ASSERT_EQ(sample_with(*sampler, all_seeds, {3, 0, 0}),
              reference_sample(graph.view(), c.fanouts, all_seeds, {3, 0, 0}, replacement));
  }
}

INSTANTIATE_TEST_SUITE_P(Generated, DeviceSamplerTest, ::testing::ValuesIn(all_cases()));

TEST(DeviceSampler, WritesTheDegreesOfABatchIfAsked) {
  for (const double mean_degree : {0.0, 1.0, 50.0}) {
    const test::OwnedGraph graph = test::sorted(test::power_law_graph(3000, mean_degree, 1));
    const DeviceGraph on_device(graph.view());
    const auto sampler = on_device.make_sampler({5, 3}, Replacement::kWithout);
    for (const std::size_t num_seeds : {0u, 1u, 700u}) {
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
  EXPECT_THROW(on_device.make_sampler({0}, Replacement::kWithout), Error);
  const auto sampler = on_device.make_sampler({2}, Replacement::kWithout);
  EXPECT_THROW(sampler->sample(std::vector<NodeId>{100}, {}), Error);
  EXPECT_THROW(sampler->sample(std::vector<NodeId>{3, 3}, {}), Error);
  const std::vector<NodeId> seeds{3, 4};
  EXPECT_EQ(sample_with(*sampler, seeds, {}), reference_sample(graph.view(), std::vector{2}, seeds, {}));
}

}  // namespace
}  // namespace salient
