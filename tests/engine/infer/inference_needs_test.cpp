// tests/engine/infer/inference_needs_test.cpp - the one policy of residency with what an inference takes.
#include "engine/infer/inference_needs.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/datasets.h"

namespace salient {
namespace {

std::int64_t sum_of(const RunNeeds& needs, const std::string& what, std::int64_t MemoryLine::*bytes) {
  std::int64_t sum = 0;
  for (const MemoryLine& line : needs.others)
    if (line.what.starts_with(what)) sum += line.*bytes;
  return sum;
}

TEST(NeedsOfSampledInference, LetThePolicyCacheRowsThatDoNotFit) {
  const Dataset dataset = test::generated_dataset(20'000, 20, 400, FeatureType::kF32);
  const LoaderOptions loading{.rule = {{3, 3}}, .num_workers = 2, .num_slots = 4, .to_device = true};
  const RunNeeds needs =
      needs_of_sampled_inference(dataset, {.loader = loading,
                                           .nodes = dataset.train,
                                           .batch_size = 10,
                                           .seed = 1,
                                           .model = {.in_dim = 400, .hidden_dim = 8, .num_layers = 2}});
  const auto plan = [&](std::int64_t free, const ResidencyRequest& request = {}) {
    return plan_residency(request, dataset, needs, {.host_bytes = std::int64_t{1} << 40, .device_bytes = free});
  };
  const std::int64_t all = plan(std::int64_t{1} << 40).device_bytes;
  EXPECT_EQ(plan(all).residency.features, Residency::kDevice);
  EXPECT_EQ(plan(all).residency.graph, GraphResidency::kDevice);
  EXPECT_EQ(plan(all - 12'000'000).residency.features, Residency::kCached);
  EXPECT_GT(plan(all - 12'000'000).residency.cached_rows, 400U);
  EXPECT_EQ(plan(1).residency, DataResidency());
  EXPECT_EQ(plan(all, {.features = Residency::kCached, .cache_bytes = 160'000}).residency.cached_rows, 100U);
}

TEST(NeedsOfSampledInference, CountScoresOfAllLabels) {
  const LoaderOptions loading{.rule = {{3}}, .num_workers = 1, .num_slots = 4};
  const auto scores = [&](const Dataset& dataset) {
    const RunNeeds needs =
        needs_of_sampled_inference(dataset, {.loader = loading,
                                             .nodes = dataset.train,
                                             .batch_size = 10,
                                             .seed = 1,
                                             .model = {.in_dim = 400, .hidden_dim = 8, .num_layers = 1}});
    return sum_of(needs, "scores", &MemoryLine::host_bytes);
  };
  const Dataset labels = test::generated_dataset(300, 5, 7, FeatureType::kF16, /*num_labels=*/6);
  EXPECT_EQ(scores(labels), static_cast<std::int64_t>(labels.train.size()) * (6 * (4 + 5) + 4 + 16));
  EXPECT_EQ(scores(test::generated_dataset(300, 5, 7)), 0) << "five classes have no ROC AUC";
}

TEST(NeedsOfExactInference, HaveTheResultsWhereThePlanPutsThem) {
  const Dataset dataset = test::generated_dataset(300, 5, 7);
  ExactOptions options;
  ExactPlan plan;
  plan.slots = 4;
  plan.activation_bytes = 1'000'000;
  plan.block_bytes = 40'000;
  const auto line = [&](ActivationStorage storage, std::int64_t MemoryLine::*bytes) {
    plan.storage = storage;
    return sum_of(needs_of_exact_inference(dataset, plan, options, /*on_gpu=*/true), "layers' results", bytes);
  };
  EXPECT_EQ(line(ActivationStorage::kDevice, &MemoryLine::device_bytes), 1'000'000);
  EXPECT_EQ(line(ActivationStorage::kDevice, &MemoryLine::host_bytes), 0);
  EXPECT_EQ(line(ActivationStorage::kMemory, &MemoryLine::host_bytes), 1'000'000);
  EXPECT_EQ(line(ActivationStorage::kFile, &MemoryLine::host_bytes), 0);
  const RunNeeds needs = needs_of_exact_inference(dataset, plan, options, /*on_gpu=*/true);
  EXPECT_EQ(needs.loaders[0].batch.slab(Residency::kHost).device_bytes, 50'000);
  EXPECT_EQ(needs.loaders[0].batch.slab(Residency::kCached).device_bytes, 100'000) << "rows that missed, beside x";
}

}  // namespace
}  // namespace salient
