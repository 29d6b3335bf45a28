// tests/engine/infer/exact_inference_gpu_test.cpp - inference on the device finds what the host finds, wherever
// activations are kept.
#include "engine/infer/exact_inference.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/infer/resident_exact.h"
#include "loaders/resident_data.h"
#include "tests/support/inference.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TEST(InferenceOnDevice, FindsWhatTheHostFindsFromEveryPlace) {
  const test::Scratch scratch;
  const Dataset plain = test::dataset_with_small_features(3000, 8, 24, FeatureType::kF16);
  std::vector<NodeId> some(700);
  std::iota(some.begin(), some.end(), NodeId{900});
  for (const std::string& variant : test::model_variants()) {
    const bool is_of_types = is_typed(test::options_of_variant(variant).kind);
    const Dataset dataset = test::dataset_for(variant, FeatureType::kF16, plain);
    const std::vector<NodeId> targets = is_of_types ? test::every_target(dataset) : some;
    ExactOptions options;
    options.host_budget = std::int64_t{1} << 40;
    options.block_bytes = 200000;
    options.scratch = scratch.path();
    options.kept_layer = 2;
    const auto model = test::model_with_history(variant, dataset);
    const test::Found expected = test::exact(*model, dataset, targets, options);
    const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
    model->to(device.torch_device());
    const ResidentData on_host, on_device(dataset, {.features = Residency::kDevice}),
        cached(dataset, {.features = Residency::kCached, .cached_rows = 1000, .cached_bytes = 1000});
    for (const ActivationStorage storage :
         {ActivationStorage::kDevice, ActivationStorage::kMemory, ActivationStorage::kFile})
      for (const ResidentData* data : {&on_host, &on_device, &cached}) {
        options.storage = storage;
        options.device_budget = std::int64_t{1} << 40;
        options.data = data->view();
        const test::Found found = test::exact(*model, dataset, targets, options, device);
        EXPECT_TRUE(at::allclose(found.logits, expected.logits, 1e-4, 1e-4)) << variant << " in " << to_text(storage);
        EXPECT_TRUE(at::allclose(found.embeddings, expected.embeddings, 1e-4, 1e-4))
            << variant << " in " << to_text(storage);
        EXPECT_EQ(found.counts.labelled, expected.counts.labelled);
      }
    const test::Found sampled = test::sampled(*model, dataset, targets, -1, /*layer=*/0, device);
    EXPECT_TRUE(at::allclose(sampled.logits, expected.logits, 1e-4, 1e-4)) << variant << ", sampled";
  }
}

class ExactOnDevice : public testing::TestWithParam<FeatureType> {};

TEST_P(ExactOnDevice, FindsTheSameWithLayersInF16) {
  const Dataset dataset = test::dataset_with_small_features(3000, 8, 24, GetParam());
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  const auto model = test::model_with_history("sage", dataset);
  std::vector<NodeId> targets(700);
  std::iota(targets.begin(), targets.end(), NodeId{900});
  std::ranges::reverse(targets);
  ExactOptions options;
  options.host_budget = std::int64_t{1} << 40;
  const test::Found expected = test::exact(*model, dataset, targets, options);
  model->to(device.torch_device());
  const ResidentData data(dataset, {.features = Residency::kDevice, .graph = GraphResidency::kDevice});
  ResidentSpec spec;
  spec.model.hidden_dim = 16;
  spec.model.num_layers = model->num_layers();
  ASSERT_EQ(plan_batches({.purpose = Purpose::kExactInference,
                          .spec = spec,
                          .dataset = dataset,
                          .data = residency_of(data.view()),
                          .asked = StepKind::kResident})
                .why,
            "");
  const auto comm = make_self_communicator();
  const auto predict = [&](const ResidentData& from, bool may_overwrite_features = false) {
    return test::collect(/*layer=*/0, [&](const OnRound& on_round) {
      return resident_exact_inference({*model, device, *comm}, dataset, from.view(), spec,
                                      {targets, may_overwrite_features}, on_round);
    });
  };
  const test::Found found = predict(data);
  const ResidentData in_part(dataset,
                             {.features = Residency::kDevice, .graph = GraphResidency::kDevice, .graph_entries = 9000});
  EXPECT_TRUE(at::equal(predict(in_part).logits, found.logits)) << "other rows of the graph in pinned host memory";
  EXPECT_LT(((found.logits - expected.logits).norm() / expected.logits.norm()).item<double>(), 2e-3);
  EXPECT_TRUE(at::allclose(predict(data, true).logits, found.logits, 1e-3, 1e-3)) << "for the last time";
  EXPECT_EQ(found.counts.nodes, expected.counts.nodes);
  EXPECT_EQ(found.counts.labelled, expected.counts.labelled);
  EXPECT_NEAR(static_cast<double>(found.counts.correct), static_cast<double>(expected.counts.correct), 5);
}

INSTANTIATE_TEST_SUITE_P(Types, ExactOnDevice, testing::Values(FeatureType::kF16, FeatureType::kFp8),
                         [](const auto& test) { return name_of(test.param); });

/// Predictions from layers in f16.
test::Found in_f16(const std::shared_ptr<Model>& model, const Dataset& dataset, std::span<const NodeId> targets) {
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  model->to(device.torch_device());
  const ResidentData data(dataset, {.features = Residency::kDevice, .graph = GraphResidency::kDevice});
  ResidentSpec spec;
  spec.model.hidden_dim = 16;
  spec.model.num_layers = model->num_layers();
  const auto comm = make_self_communicator();
  return test::collect(/*layer=*/0, [&](const OnRound& on_round) {
    return resident_exact_inference({*model, device, *comm}, dataset, data.view(), spec, {targets}, on_round);
  });
}

/// One layer's weights times `factor`, of one sign if it is negative: infinite results of the layer before then become
/// zeros behind its ReLU, and logits are finite.
std::shared_ptr<Model> with_large_layer(const Dataset& dataset, int layer, float factor, bool hides_it) {
  const at::NoGradGuard no_gradients;
  const auto model = test::model_with_history("sage", dataset);
  for (auto& item : model->named_parameters()) {
    if (item.key().starts_with("convs." + std::to_string(layer))) item.value().mul_(factor);
    if (hides_it && item.key().starts_with("convs." + std::to_string(layer + 1))) item.value().abs_().neg_();
  }
  return model;
}

TEST(InferenceOnDevice, EndsWhereALayerIsBeyondTheRangeOfF16) {
  const Dataset dataset = test::dataset_with_small_features(3000, 8, 24, FeatureType::kF16);
  const std::span<const NodeId> targets = dataset.train.first(500);
  EXPECT_EQ(in_f16(with_large_layer(dataset, 0, 1e3f, false), dataset, targets).counts.nodes, 500) << "large, in range";
  const int num_layers = test::model_with_history("sage", dataset)->num_layers();
  for (int layer = 0; layer < num_layers; ++layer)
    for (const float factor : {2e5f, 1e7f})  // weights are in range, or not
      EXPECT_COMPLAINT(in_f16(with_large_layer(dataset, layer, factor, false), dataset, targets), ErrorKind::kUsage,
                       "beyond its range of 65504");
  EXPECT_COMPLAINT(in_f16(with_large_layer(dataset, 0, 2e5f, true), dataset, targets), ErrorKind::kUsage, "65504");
}

TEST_P(ExactOnDevice, FindsTheSameBitsWhereverTheDataIs) {
  const Dataset dataset = test::dataset_with_small_features(3000, 8, 24, GetParam());
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  const auto model = test::model_with_history("sage", dataset);
  model->to(device.torch_device());
  const test::Found expected = test::sampled(*model, dataset, dataset.train, 4, /*layer=*/0, device);
  for (const Residency features : {Residency::kHost, Residency::kDevice, Residency::kCached})
    for (const GraphResidency graph : {GraphResidency::kHost, GraphResidency::kDevice}) {
      const ResidentData data(dataset, {.features = features, .cached_rows = 500, .graph = graph});
      const test::Found found = test::sampled(*model, dataset, dataset.train, 4, /*layer=*/0, device, data.view());
      EXPECT_TRUE(at::equal(found.logits, expected.logits)) << name_of(features) << ", graph " << name_of(graph);
    }
}

TEST(InferenceOnDevice, TakesGpuMemoryWhenThereIsRoom) {
  const Dataset dataset = test::dataset_with_small_features(3000, 8, 24, FeatureType::kF16);
  const auto model = test::model_with_history("sage", dataset);
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  model->to(device.torch_device());
  const auto comm = make_self_communicator();
  ExactOptions options = exact_options_for(device, 1, 4);
  const auto plan = [&] { return plan_exact_inference({*model, device, *comm}, dataset, dataset.train, options); };
  EXPECT_EQ(plan().storage, ActivationStorage::kDevice);
  options.device_budget = 1000;
  EXPECT_EQ(plan().storage, ActivationStorage::kMemory);
  options.storage = ActivationStorage::kDevice;
  EXPECT_COMPLAINT(plan(), ErrorKind::kDeviceMemory, "of GPU memory");
}

}  // namespace
}  // namespace salient
