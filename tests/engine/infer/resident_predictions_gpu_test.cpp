// tests/engine/infer/resident_predictions_gpu_test.cpp - resident predictions find what eager ones find.
#include "engine/infer/resident_predictions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/value_text.h"
#include "loaders/resident_data.h"
#include "tests/support/inference.h"

namespace salient {
namespace {

constexpr std::size_t kBatch = 64;

/// A data set on the GPU, a GraphSAGE model, and its predictions both ways.
class ResidentPredictionsTest : public testing::Test {
 protected:
  ResidentSpec spec_of(std::vector<int> fanouts, Precision precision = Precision::kFp32) const {
    ResidentSpec spec{.fanouts = std::move(fanouts), .max_seeds = kBatch, .numerics = {.precision = precision}};
    spec.model.hidden_dim = 16;
    return spec;
  }

  struct Predicted {
    test::Found found{};
    std::vector<std::int64_t> confusion{};
    LoaderStats stats{};
  };
  Predicted predict(Predictions& predictions, std::span<const NodeId> nodes) const {
    ConfusionCounter confusion(dataset_.num_classes, device_.torch_device());
    Predicted result;
    result.found = test::collect(/*layer=*/0, [&](const OnRound& on_round) {
      return sampled_inference({*model_, device_, *comm_}, predictions, nodes,
                               {.batch_size = kBatch, .seed = 5, .confusion = &confusion}, on_round);
    });
    result.confusion = confusion.sum_over_ranks(*comm_);
    result.stats = predictions.stats();
    return result;
  }

  Predicted predict_eagerly(const ResidentSpec& spec, std::span<const NodeId> nodes) const {
    LoaderPredictions eager(
        dataset_,
        {.fanouts = spec.fanouts, .with_replacement = spec.with_replacement, .to_device = true, .data = data_.view()},
        device_);
    return predict(eager, nodes);
  }

  std::unique_ptr<Predictions> make_resident_ones(const ResidentSpec& spec) const {
    return make_resident_predictions(spec, dataset_, data_.view(), device_);
  }

  const Dataset dataset_ = test::dataset_with_small_features(3000, 8, 24, FeatureType::kF16);
  const ComputeDevice device_ = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  const ResidentData data_{dataset_, {.features = Residency::kDevice, .graph = GraphResidency::kDevice}};
  const std::shared_ptr<Model> model_ = [this] {
    auto model = test::model_with_history("sage", dataset_);
    model->to(device_.torch_device());
    return model;
  }();
  const std::unique_ptr<Communicator> comm_ = make_self_communicator();
};

TEST_F(ResidentPredictionsTest, FindWhatEagerOnesFind) {
  for (const std::vector<int>& fanouts : {std::vector{4, 3, 2}, std::vector{20, 20, 20}, std::vector{1, 32, 5}})
    for (const bool with_replacement : {false, true})
      for (const std::size_t count : {std::size_t{1}, kBatch, 5 * kBatch + 7}) {  // the last batch short
        ResidentSpec spec = spec_of(fanouts);
        spec.with_replacement = with_replacement;
        const std::span<const NodeId> nodes = dataset_.train.first(count);
        const Predicted expected = predict_eagerly(spec, nodes);
        const auto resident = make_resident_ones(spec);
        const Predicted predicted = predict(*resident, nodes);
        const std::string where = to_text(fanouts) + ", " + std::to_string(count) + " nodes";
        EXPECT_TRUE(at::allclose(predicted.found.logits, expected.found.logits, 1e-4, 1e-5)) << where;
        EXPECT_EQ(predicted.found.counts.nodes, expected.found.counts.nodes) << where;
        EXPECT_EQ(predicted.found.counts.labelled, expected.found.counts.labelled) << where;
        EXPECT_EQ(predicted.found.counts.correct, expected.found.counts.correct) << where;
        EXPECT_EQ(predicted.confusion, expected.confusion) << where;
        EXPECT_EQ(predicted.stats.seeds, static_cast<std::int64_t>(count)) << where;
        EXPECT_EQ(predicted.stats.batches, expected.stats.batches) << where;
        EXPECT_GE(predicted.stats.edges, expected.stats.edges) << "repeats count; " << where;
      }
}

TEST_F(ResidentPredictionsTest, RoundAsTheirPrecision) {
  const Predicted expected = predict_eagerly(spec_of({10, 10, 10}), dataset_.train);
  const double norm = expected.found.logits.norm().item<double>();
  for (const auto& [precision, bound] : {std::pair(Precision::kTf32, 0.005), std::pair(Precision::kBf16, 0.03)}) {
    const auto resident = make_resident_ones(spec_of({10, 10, 10}, precision));
    const Predicted predicted = predict(*resident, dataset_.train);
    EXPECT_LT((predicted.found.logits - expected.found.logits).norm().item<double>(), bound * norm)
        << name_of(precision);
  }
}

TEST_F(ResidentPredictionsTest, SeeTheWeightsOfTheirStart) {
  const auto resident = make_resident_ones(spec_of({4, 3, 2}));
  const Predicted before = predict(*resident, dataset_.train);
  {
    const at::NoGradGuard no_gradients;
    for (at::Tensor& parameter : model_->parameters()) parameter.mul_(-0.5);
  }
  const Predicted after = predict(*resident, dataset_.train);
  EXPECT_FALSE(at::allclose(after.found.logits, before.found.logits, 1e-2, 1e-3));
  EXPECT_TRUE(
      at::allclose(after.found.logits, predict_eagerly(spec_of({4, 3, 2}), dataset_.train).found.logits, 1e-4, 1e-5));
}

TEST_F(ResidentPredictionsTest, StopBetweenRoundsAndStartAgain) {
  const auto resident = make_resident_ones(spec_of({4, 3, 2}));
  int rounds = 0;
  const InferenceCounts counts =
      sampled_inference({*model_, device_, *comm_}, *resident, dataset_.train,
                        {.batch_size = kBatch, .seed = 5, .must_stop = [&] { return ++rounds == 2; }});
  EXPECT_EQ(counts.nodes, static_cast<std::int64_t>(2 * kBatch));
  EXPECT_EQ(resident->stats().batches, 2);
  const Predicted again = predict(*resident, dataset_.train);
  EXPECT_EQ(again.found.counts.nodes, std::ssize(dataset_.train));
  EXPECT_TRUE(
      at::allclose(again.found.logits, predict_eagerly(spec_of({4, 3, 2}), dataset_.train).found.logits, 1e-4, 1e-5));
}

}  // namespace
}  // namespace salient
