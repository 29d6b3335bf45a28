// tests/engine/infer/resident_predictions_test.cpp - the memory of predictions that stay on the GPU, without one.
#include "engine/infer/resident_predictions.h"

#include <gtest/gtest.h>

#include "models/describe/resident_limits.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

TEST(ResidentPredictionsBytes, AreCountedWithoutAGpuForEveryModel) {
  if (!SALIENT_HAS_CUDA) return;
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
  if (!SALIENT_HAS_CUDA) return;
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
  if (!SALIENT_HAS_CUDA) return;
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
