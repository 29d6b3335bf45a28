// tests/apps/new_node_batch_test.cpp - what a batch around new nodes holds of known ones.
#include "apps/new_node_batch.h"

#include <ATen/core/Tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/datasets.h"

namespace salient {
namespace {

constexpr NodeId kKnown = 500;
const SamplingRule kRule{{4, 3}};

/// Two nodes: one sees known ones and the other, the other sees a known one and itself.
const NewNodes kNew{
    .features = std::vector<float>(2 * 8, 0.5F), .indptr = {0, 3, 5}, .indices = {3, 17, kKnown + 1, 99, kKnown + 1}};

class NewNodeBatches : public ::testing::Test {
 protected:
  NewNodeBatches() : graph_(test::sorted(test::power_law_graph(kKnown, 12, 1))) { dataset_.graph = graph_.view(); }
  NewNodeBatch batch_with(Degrees degrees) const {
    return {dataset_, {&kNew, 1}, {.rule = kRule, .key = {}, .degrees = degrees}};
  }

  test::OwnedGraph graph_;
  Dataset dataset_ = test::generated_dataset(kKnown, 12, 8, FeatureType::kF32);
};

TEST_F(NewNodeBatches, DegreesAreThoseOfTheWholeGraph) {
  const NewNodeBatch batch = batch_with(Degrees::kOfEveryNode);
  const BatchView view = batch.view(at::kCPU);
  const auto* const nodes = reinterpret_cast<const NodeId*>(view.nodes.const_data_ptr<std::int32_t>());
  const auto num_nodes = static_cast<std::size_t>(view.nodes.numel());
  ASSERT_GT(num_nodes, 5U);
  std::vector<NodeDegree> expected{{3, 0}, {2, 1}};
  std::ranges::copy(test::counted_degrees(dataset_.graph, {nodes + 2, num_nodes - 2}), std::back_inserter(expected));
  const at::Tensor& degrees = view.hops.front().degrees;
  ASSERT_EQ(degrees.numel(), static_cast<std::int64_t>(2 * num_nodes));
  const auto* const found = reinterpret_cast<const NodeDegree*>(degrees.const_data_ptr<std::int32_t>());
  EXPECT_EQ(std::vector(found, found + num_nodes), expected);
}

TEST_F(NewNodeBatches, AModelThatReadsNoDegreesGetsNone) {
  const NewNodeBatch batch = batch_with(Degrees::kOfNoNode);
  for (const HopView& hop : batch.view(at::kCPU).hops) EXPECT_FALSE(hop.degrees.defined());
}

TEST_F(NewNodeBatches, SomeNodesOfAListHaveTheRowsAndNeighbourhoodsOfAll) {
  const NewNodeBatch all = batch_with(Degrees::kOfEveryNode);
  const NewNodeBatch::Sampling sampling{.rule = kRule, .key = {}, .degrees = Degrees::kOfEveryNode};
  const std::vector<NodeId> both = {0, 1}, second = {1};
  const NewNodeBatch of_both(dataset_, kNew, both, sampling), of_second(dataset_, kNew, second, sampling);
  const BatchView expected = all.view(at::kCPU), same = of_both.view(at::kCPU), one = of_second.view(at::kCPU);
  EXPECT_TRUE(same.nodes.equal(expected.nodes));
  EXPECT_TRUE(same.x.dense().equal(expected.x.dense()));
  EXPECT_TRUE(same.hops.front().degrees.equal(expected.hops.front().degrees));
  ASSERT_EQ(one.hops.back().num_dst, 1);
  EXPECT_EQ(static_cast<NodeId>(one.nodes.const_data_ptr<std::int32_t>()[0]), kKnown + 1);
  const auto row_of = [](const BatchView& view, std::int64_t destination) {  // the global ids that it aggregates from
    const auto* const begin = view.hops.back().indptr.const_data_ptr<std::int32_t>() + destination;
    std::vector<std::int32_t> row;
    for (std::int32_t e = begin[0]; e < begin[1]; ++e)
      row.push_back(
          view.nodes.const_data_ptr<std::int32_t>()[view.hops.back().indices.const_data_ptr<std::int32_t>()[e]]);
    return row;
  };
  EXPECT_EQ(row_of(one, 0), row_of(expected, 1));
}

}  // namespace
}  // namespace salient
