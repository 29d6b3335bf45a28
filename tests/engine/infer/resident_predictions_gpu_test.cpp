// tests/engine/infer/resident_predictions_gpu_test.cpp - resident predictions find what eager ones find.
#include "engine/infer/resident_predictions.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "core/value_text.h"
#include "engine/infer/confusion_counter.h"
#include "loaders/resident_data.h"
#include "tests/support/inference.h"

namespace salient {
namespace {

constexpr std::size_t kBatch = 64;

/// A data set on the GPU, a model, and its predictions both ways.
class ResidentPredictionsTest : public testing::Test {
 protected:
  ResidentSpec spec_of(std::vector<int> fanouts, Precision precision = Precision::kFp32) const {
    ResidentSpec spec{.rule = {std::move(fanouts)}, .max_seeds = kBatch, .numerics = {.precision = precision}};
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
                               {.batch_size = kBatch, .seed = 5, .tally = &confusion}, on_round);
    });
    result.confusion = confusion.sum_over_ranks(*comm_).matrix;
    result.stats = predictions.stats();
    return result;
  }

  Predicted predict_eagerly(const ResidentSpec& spec, std::span<const NodeId> nodes) const {
    LoaderPredictions eager(
        dataset_,
        {.rule = spec.rule, .degrees = degrees_for(model_->reads_degrees()), .to_device = true, .data = data_.view()},
        device_);
    return predict(eager, nodes);
  }

  std::unique_ptr<Predictions> make_resident_ones(const ResidentSpec& spec) const {
    return make_resident_predictions(spec, dataset_, data_.view(), device_, *model_);
  }

  const Dataset dataset_ = test::dataset_with_small_features(3000, 8, 24, FeatureType::kF16);
  const ComputeDevice device_ = ComputeDevice::choose(DeviceKind::kCuda, 0, 1);
  const ResidentData data_{dataset_, {.features = Residency::kDevice, .graph = GraphResidency::kDevice}};
  std::shared_ptr<Model> make_model_like(const std::string& variant) const {
    auto model = test::model_with_history(variant, dataset_);
    model->to(device_.torch_device());
    return model;
  }
  std::shared_ptr<Model> model_ = make_model_like("sage");
  const std::unique_ptr<Communicator> comm_ = make_self_communicator();
};

TEST_F(ResidentPredictionsTest, FindWhatEagerOnesFind) {
  for (const std::vector<int>& fanouts : {std::vector{4, 3, 2}, std::vector{20, 20, 20}, std::vector{1, 32, 5}})
    for (const Draw draw : {Draw::kUniform, Draw::kWithReplacement})
      for (const std::size_t count : {std::size_t{1}, kBatch, 5 * kBatch + 7}) {  // the last batch short
        ResidentSpec spec = spec_of(fanouts);
        spec.rule.draw = draw;
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

TEST_F(ResidentPredictionsTest, OfEveryModelFindWhatEagerOnesFind) {
  const std::span<const NodeId> nodes = dataset_.train.first(3 * kBatch + 7);  // the last batch short
  for (const std::string variant :
       {"gcn", "gcn-row", "gin", "gin-scaled", "sage-ri", "gat", "gatv2", "sage/layer/residual/none/1",
        "sage/batch/residual/cat/1", "gcn/none/residual/max/1", "gin/layer/residual/cat/1", "gat/batch/residual/max/1",
        "gatv2/layer/residual/cat/1", "gat/none/none/none/2", "gatv2/batch/residual/none/2", "transformer",
        "transformer/layer/residual/max/2"}) {
    model_ = make_model_like(variant);
    ResidentSpec spec = spec_of({5, 4, 3});
    spec.model = test::options_of_variant(variant);
    spec.model.dropout = 0.5;  // of the training
    ResidentSpec in_bf16 = spec;
    in_bf16.numerics.precision = Precision::kBf16;
    const auto resident = make_resident_ones(spec), rounded = make_resident_ones(in_bf16);
    for (const char* weights : {"as they were", "changed in place", "of another model"}) {
      if (weights[0] == 'c') {
        const at::NoGradGuard no_gradients;
        for (at::Tensor& parameter : model_->parameters()) parameter.mul_(1.25);
      }
      if (weights[0] == 'o') model_ = make_model_like(variant);
      model_->eval();
      std::vector<at::Tensor> state;
      for (const at::Tensor& buffer : model_->buffers()) state.push_back(buffer.clone());
      const Predicted expected = predict_eagerly(spec, nodes);
      const Predicted predicted = predict(*resident, nodes);
      const double norm = expected.found.logits.norm().item<double>();
      const auto distance = [&](const Predicted& from) {
        return (from.found.logits - expected.found.logits).norm().item<double>() / norm;
      };
      EXPECT_LT(distance(predicted), 1e-5) << variant << ", weights " << weights;
      EXPECT_LT(distance(predict(*rounded, nodes)), 0.03) << variant << ", weights " << weights;
      EXPECT_EQ(predicted.found.counts.correct, expected.found.counts.correct) << variant;
      EXPECT_EQ(predicted.confusion, expected.confusion) << variant;
      EXPECT_EQ(predicted.stats.seeds, expected.stats.seeds) << variant;
      for (std::size_t i = 0; i < state.size(); ++i)
        EXPECT_TRUE(at::equal(state[i], model_->buffers()[i])) << variant << ": statistics stay as they are";
    }
  }
}

TEST_F(ResidentPredictionsTest, FindTheSameBitsWhateverRowsOfTheGraphAreInGpuMemory) {
  const std::span<const NodeId> nodes = dataset_.train.first(3 * kBatch + 7);
  for (const std::string variant : {"sage", "gcn", "gin-scaled", "gatv2", "sage/layer/residual/none/1"}) {
    model_ = make_model_like(variant);
    ResidentSpec spec = spec_of({20, 9, 4});
    spec.numerics.gradient_order = GradientOrder::kFixed;  // products chosen by time could differ
    spec.model = test::options_of_variant(variant);
    const auto whole = make_resident_ones(spec);
    const at::Tensor expected = predict(*whole, nodes).found.logits;
    for (const std::size_t num_hot : {std::size_t{0}, std::size_t{9000}}) {
      const ResidentData in_part(
          dataset_, {.features = Residency::kDevice, .graph = GraphResidency::kDevice, .graph_entries = num_hot});
      const auto resident = make_resident_predictions(spec, dataset_, in_part.view(), device_, *model_);
      EXPECT_TRUE(at::equal(predict(*resident, nodes).found.logits, expected)) << variant << ", " << num_hot;
    }
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

TEST_F(ResidentPredictionsTest, OfFeaturesOfEdgesFindWhatEagerOnesFind) {
  for (const int dim : {3, 8}) {
    const Dataset dataset = test::with_edge_features(dataset_, dim);
    const ResidentData data(dataset, kAllOnDevice);
    ASSERT_TRUE(residency_of(data.view()).edge_features);
    model_ = test::model_with_history("sage-edges", dataset);
    model_->to(device_.torch_device());
    ResidentSpec spec = spec_of({5, 4, 3});
    spec.model = test::options_of_variant("sage-edges");
    const std::span<const NodeId> nodes = dataset.train.first(3 * kBatch + 7);
    LoaderPredictions eager(dataset,
                            {.rule = spec.rule, .entries = {.features = true}, .to_device = true, .data = data.view()},
                            device_);  // sampled on the host, whose graph is on the GPU, too
    const Predicted expected = predict(eager, nodes);
    const double norm = expected.found.logits.norm().item<double>();
    for (const auto& [precision, bound] : {std::pair(Precision::kFp32, 1e-5), std::pair(Precision::kBf16, 0.03)}) {
      spec.numerics.precision = precision;
      const auto resident = make_resident_predictions(spec, dataset, data.view(), device_, *model_);
      for (const char* weights : {"as they were", "again"})
        EXPECT_LT((predict(*resident, nodes).found.logits - expected.found.logits).norm().item<double>(), bound * norm)
            << dim << ", " << name_of(precision) << ", " << weights;
    }
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
