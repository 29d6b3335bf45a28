// tests/engine/infer/resident_obstacle_test.cpp - what does not stay on the GPU, and why.
#include <gtest/gtest.h>

#include <string>

#include "engine/infer/resident_exact.h"
#include "engine/infer/resident_predictions.h"
#include "models/describe/resident_limits.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

constexpr DataResidency kOnDevice{.features = Residency::kDevice, .graph = GraphResidency::kDevice};

TEST(ObstacleToResident, IsNamed) {
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  const ResidentSpec good{.rule = {{20, 20, 20}}, .max_seeds = 1024};
  const auto obstacle = [&](auto&& change) {
    ResidentSpec spec = good;
    change(spec);
    return obstacle_to_resident(spec, dataset, kOnDevice);
  };
  if (!has_resident_predictions()) {
    EXPECT_EQ(obstacle([](ResidentSpec&) {}), "this build has no CUDA");
    return;
  }
  EXPECT_EQ(obstacle([](ResidentSpec&) {}), "");
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.rule = {{20, -1, 20}}; }), "a fanout is not in 1 to 32");
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.rule = {{33, 1, 1}}; }), "a fanout is not in 1 to 32");
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.max_seeds = 1 << 15; }), "a batch may have more than 2^23 rows");
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.rule.draw = Draw::kLabor; }), "neighbours are drawn by labor");
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.model.hidden_dim = 100; }),
            "the width of the hidden layers is not a multiple of 8");
  for (const auto& [kind, name] : names_of(ModelKind{}))
    EXPECT_EQ(obstacle([kind = kind](ResidentSpec& spec) {
                spec.model.kind = kind;
                spec.max_seeds = 512;
              }),
              kind == ModelKind::kTransformer ? "the model has no resident step" : "")
        << name;
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.model.kind = ModelKind{names_of(ModelKind{}).size()}; }),
            "the model has no resident step")
      << "of a kind that is added without one";
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.model.kind = ModelKind::kGatv2; }),
            "a batch may have more than 2^23 rows")
      << "of entries";
  EXPECT_EQ(obstacle([](ResidentSpec& spec) { spec.model.residual = true; }), "");
  EXPECT_EQ(obstacle_to_resident_exact({.model = {.kind = ModelKind::kGcn}}, dataset, kOnDevice, 1),
            "the model is not GraphSAGE");
  EXPECT_EQ(obstacle_to_resident_exact({.model = {.norm = NormKind::kLayer}}, dataset, kOnDevice, 1),
            "the model has norms, residual connections or jumping knowledge");
  EXPECT_EQ(obstacle_to_resident_exact({.rule = {.draw = Draw::kLabor}}, dataset, kOnDevice, 1), "")
      << "which draws nothing";
  EXPECT_EQ(obstacle_to_resident(good, dataset, {.features = Residency::kDevice}),
            "features and graph are not both in GPU memory");
  EXPECT_EQ(
      obstacle_to_resident(good, test::generated_dataset(100, 5, 7, FeatureType::kF16, /*num_labels=*/4), kOnDevice),
      "a node has several labels");
}

TEST(ResidentPredictionsBytes, AreCountedWithoutAGpuForEveryModel) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 100);
  for (const auto& [kind, name] : names_of(ModelKind{})) {
    if (!resident_obstacle({.kind = kind}).empty()) continue;
    const auto bytes = [&, kind = kind](Precision precision) {
      return resident_predictions_bytes(
          {.model = {.kind = kind}, .rule = {{15, 10, 5}}, .max_seeds = 1024, .numerics = {.precision = precision}},
          dataset);
    };
    EXPECT_GT(bytes(Precision::kFp32), std::int64_t{1024} * 16 * 11 * 256 * 4) << name << ": the first layer's result";
    EXPECT_LT(bytes(Precision::kBf16), bytes(Precision::kFp32) * 3 / 4) << name;
  }
}

TEST(ResidentPredictionsBytes, CountWhatIsBetweenTheLayers) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 100);
  const auto bytes = [&](const ModelOptions& model) {
    return resident_predictions_bytes({.model = model, .rule = {{15, 10, 5}}, .max_seeds = 1024}, dataset);
  };
  const std::int64_t rows = std::int64_t{1024} * 16 * 11;  // of the first layer
  for (const ModelKind kind : {ModelKind::kGcn, ModelKind::kGin, ModelKind::kGat, ModelKind::kGatv2}) {
    EXPECT_GT(bytes({.kind = kind, .norm = NormKind::kLayer}), bytes({.kind = kind}) + rows * 256 * 4) << "its result";
    EXPECT_GT(bytes({.kind = kind, .residual = true}), bytes({.kind = kind}) + rows * 2 * 256 * 4)
        << "its result, and what is added";
  }
}

TEST(ResidentPredictionsBytes, GrowWithTheBatchAndItsType) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(100, 5, 128);
  const auto bytes = [&](std::size_t seeds, Precision precision) {
    return resident_predictions_bytes(
        {.rule = {{20, 20, 20}}, .max_seeds = seeds, .numerics = {.precision = precision}}, dataset);
  };
  const std::int64_t rows = std::int64_t{1024} * 21 * 21;
  EXPECT_GT(bytes(1024, Precision::kFp32), rows * (256 + 256) * 4) << "the first operand and its product";
  EXPECT_LT(bytes(1024, Precision::kFp32), rows * (256 + 256 + 128) * 4 + (std::int64_t{100} << 20));
  EXPECT_LT(bytes(1024, Precision::kBf16), bytes(1024, Precision::kFp32) * 6 / 10);
  EXPECT_LT(bytes(64, Precision::kFp32), bytes(1024, Precision::kFp32));
}

}  // namespace
}  // namespace salient
