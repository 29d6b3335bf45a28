// tests/sampler/sampler_pool_test.cpp - workers that share samplers get the batches that they asked for.
#include "sampler/sampler_pool.h"

#include <gtest/gtest.h>

#include <thread>

#include "core/error.h"
#include "sampler/reference_sampler.h"
#include "tests/support/graphs.h"
#include "tests/support/sampled_mfg.h"

namespace salient {
namespace {

using test::sample_with;

SamplerPool make_pool(const test::OwnedGraph& graph, int num_samplers) {
  std::vector<std::unique_ptr<BatchSampler>> samplers;
  for (int i = 0; i < num_samplers; ++i)
    samplers.push_back(std::make_unique<HostBatchSampler>(graph.view(), SamplingRule{{5, 5}}));
  return SamplerPool(std::move(samplers));
}

TEST(SamplerPool, FewSamplersServeManyWorkers) {
  const test::OwnedGraph graph = test::power_law_graph(1000, 20, 1);
  const std::vector<NodeId> seeds{3, 1, 4, 159};
  SamplerPool pool = make_pool(graph, 2);
  std::vector<Mfg> batches(160);
  {
    std::vector<std::jthread> workers;
    for (std::uint32_t w = 0; w < 8; ++w)
      workers.emplace_back([&, w] {
        const auto sampler = pool.make_handle();
        for (std::uint32_t batch = w; batch < batches.size(); batch += 8)
          batches[batch] = sample_with(*sampler, seeds, {.batch = batch});
      });
  }
  for (std::uint32_t batch = 0; batch < batches.size(); ++batch)
    ASSERT_EQ(batches[batch], reference_sample(graph.view(), {{5, 5}}, seeds, {.batch = batch}));
}

TEST(SamplerPool, AFailedBatchGivesItsSamplerBack) {
  const test::OwnedGraph graph = test::power_law_graph(10, 2, 1);
  SamplerPool pool = make_pool(graph, 1);
  const auto first = pool.make_handle(), second = pool.make_handle();
  EXPECT_THROW(first->sample(std::vector<NodeId>{10}, {}), Error);
  EXPECT_EQ(second->sample(std::vector<NodeId>{9}, {}).hops.size(), 2u);
}

TEST(SamplerPool, ABatchThatIsNotCopiedGivesItsSamplerBack) {
  const test::OwnedGraph graph = test::power_law_graph(10, 2, 1);
  SamplerPool pool = make_pool(graph, 1);
  const auto first = pool.make_handle(), second = pool.make_handle();
  for (int failure = 0; failure < 3; ++failure) {
    (void)first->sample(std::vector<NodeId>{1}, {});
    first->drop();  // else this would be the end
    (void)second->sample(std::vector<NodeId>{9}, {});
    second->drop();
    second->drop();
  }
}

}  // namespace
}  // namespace salient
