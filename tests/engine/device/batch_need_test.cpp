// tests/engine/device/batch_need_test.cpp - the planned memory of a batch is that of the batches that are made.
#include "engine/device/batch_need.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "loaders/batch_maker.h"
#include "tests/support/batches.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

const std::vector<int> kFanouts{4, 3};
const ComputeBytes kNoModel = [](const MfgShape&) { return 0; };

class ProbeBatchesWith : public ::testing::TestWithParam<Degrees> {};

TEST_P(ProbeBatchesWith, FindsTheSlabsOfTheFirstBatches) {
  const Dataset dataset = test::generated_dataset(3000, 12, 30);
  const Degrees degrees = GetParam();
  const BatchNeed need = probe_batches(
      dataset, {.rule = {kFanouts}, .seeds = dataset.train, .batch_size = 100, .degrees = degrees, .seed = 5},
      kNoModel);
  std::size_t largest = 0, num_nodes = 0, num_edges = 0;
  BatchMaker maker(dataset, {kFanouts}, /*data=*/{}, /*row_of=*/{}, degrees);
  for (const BatchRequest& request : test::requests_of(dataset.train.first(300), 100, /*seed=*/5, /*epoch=*/1)) {
    Batch batch;
    maker.sample(request, batch);
    largest = std::max(largest, batch.layout.bytes);
    num_nodes = std::max(num_nodes, static_cast<std::size_t>(batch.layout.num_nodes));
    num_edges = std::max(num_edges, static_cast<std::size_t>(batch.num_edges()));
  }
  const BatchNeed::Slab& host = need.slab(Residency::kHost);
  const BatchNeed::Slab& device = need.slab(Residency::kDevice);
  const BatchNeed::Slab& cached = need.slab(Residency::kCached);
  EXPECT_EQ(host.host_bytes, static_cast<std::int64_t>(largest + largest / 4)) << "slabs grow by a quarter";
  EXPECT_EQ(host.device_bytes, host.host_bytes);
  EXPECT_EQ(device.device_bytes, host.device_bytes) << "the same parts";
  EXPECT_LT(device.host_bytes, host.host_bytes) << "x is made on the device";
  EXPECT_GT(cached.host_bytes, host.host_bytes) << "rows that may be missed, and numbers of rows";
  EXPECT_GT(cached.device_bytes, cached.host_bytes);
  EXPECT_GE(need.host_sampler_bytes, static_cast<std::int64_t>(16 * num_nodes + 5 * num_edges));
  EXPECT_GT(need.device_sampler_bytes, 0);
}

INSTANTIATE_TEST_SUITE_P(Degrees, ProbeBatchesWith, ::testing::Values(Degrees::kOfNoNode, Degrees::kOfEveryNode));

TEST(ProbeBatches, AsksForTheLargestBatch) {
  const Dataset dataset = test::generated_dataset(3000, 12, 30);
  std::vector<std::int64_t> asked;
  const auto nodes = [&](const MfgShape& mfg) { return asked.emplace_back(mfg.num_nodes); };
  const BatchProbe probe{.rule = {{2}}, .seeds = dataset.train.first(150), .batch_size = 64, .seed = 1};
  const BatchNeed need = probe_batches(dataset, probe, nodes);
  ASSERT_EQ(asked.size(), 3U);
  EXPECT_EQ(need.compute_bytes, *std::ranges::max_element(asked));
}

TEST(ProbeBatches, OfNoNodesIsNothing) {
  const Dataset dataset = test::generated_dataset(300, 8, 7);
  const BatchNeed need = probe_batches(dataset, {.rule = {kFanouts}, .batch_size = 10}, kNoModel);
  EXPECT_EQ(need.slab(Residency::kHost).host_bytes, 0);
  EXPECT_EQ(need.compute_bytes, 0);
}

}  // namespace
}  // namespace salient
