// tests/engine/train/training_plan_test.cpp - what a training asks for, and the memory of steps that stay on the GPU.
#include "engine/train/training_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/train/resident_steps.h"
#include "engine/train/run_model.h"
#include "sampler/seed_order.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

/// Kinds that have resident steps.
std::vector<EnumName<ModelKind>> resident_kinds() {
  std::vector<EnumName<ModelKind>> kinds;
  for (const EnumName<ModelKind>& kind : names_of(ModelKind{}))
    if (kind.value != ModelKind::kGine && !is_typed(kind.value)) kinds.push_back(kind);
  return kinds;
}

std::int64_t bytes_of(const TrainOptions& options, const Dataset& dataset) {
  const RunPlan plan = resolve(request_of(options, dataset, /*num_ranks=*/1), dataset, {.residency = kAllOnDevice});
  return resident_steps_bytes(plan, dataset, /*num_ranks=*/1);
}

TEST(PlanOfTraining, IsThatOfARanksShareOfTheGlobalBatch) {
  const Dataset dataset = test::generated_dataset(3000, 5, 7);
  TrainOptions options;
  options.model.num_layers = 4;
  options.batches = {.fanout = {32, 32, 32, 32}, .global_size = 400};  // 33 x 33 x 33 nodes a seed
  const auto why = [&](int num_ranks) {
    return plan_batches({.spec = request_of(options, dataset, num_ranks).training,
                         .dataset = dataset,
                         .data = kAllOnDevice,
                         .asked = StepKind::kResident,
                         .has_kernels = true})
        .why;
  };
  EXPECT_EQ(why(1), "a batch may have more than 2^23 rows");
  EXPECT_EQ(why(4), "");
}

TEST(RequestOfTraining, HasRoomForEveryRanksShareOfEveryBatch) {
  for (const NodeId num_nodes : {30U, 500U, 1001U}) {
    const Dataset dataset = test::generated_dataset(num_nodes, 5, 7);
    for (const int num_ranks : {1, 2, 3, 8}) {
      for (const int global_size : {0, 40, 101}) {
        TrainOptions options;
        options.batches = {.size = 64, .global_size = global_size};
        const std::size_t global_batch = global_batch_of(options, num_ranks), num_seeds = dataset.train.size();
        std::size_t most = 1;
        for (std::size_t batch = 0; batch < num_global_batches(num_seeds, global_batch); ++batch)
          for (int rank = 0; rank < num_ranks; ++rank)
            most = std::max(most, rank_share(num_seeds, global_batch, batch, rank, num_ranks).count);
        EXPECT_EQ(request_of(options, dataset, num_ranks).training.max_seeds, most)
            << num_seeds << " seeds, " << num_ranks << " ranks, batches of " << global_batch;
      }
    }
  }
}

TEST(RequestOfTraining, HasWhatTheOptionsSay) {
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  TrainOptions options;
  options.model.kind = ModelKind::kGat;
  options.batches.draw = Draw::kWithReplacement;
  options.evaluation = {.fanout = {4, 3, 2}, .batch_size = 7};
  options.deterministic = true;
  RunRequest request = request_of(options, dataset, 1);
  EXPECT_FALSE(request.step || request.precision);
  EXPECT_EQ(request.training.model, options.model);
  EXPECT_EQ(request.training.rule, training_rule(options, dataset));
  EXPECT_EQ(request.evaluation.rule, (SamplingRule{{4, 3, 2}, Draw::kWithReplacement}));
  EXPECT_EQ(request.evaluation.max_seeds, 1U) << "there is nothing to evaluate";
  EXPECT_EQ(request.evaluation.numerics.gradient_order, GradientOrder::kFixed);
  options.step = StepKind::kEager;
  options.precision = Precision::kTf32;
  request = request_of(options, dataset, 1);
  EXPECT_EQ(request.step, StepKind::kEager);
  EXPECT_EQ(request.precision, Precision::kTf32);
}

TEST(ResidentStepsBytes, AreCountedWithoutAGpuForEveryModel) {
  if (!SALIENT_HAS_CUDA) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 100);
  for (const auto& [kind, name] : resident_kinds()) {
    const auto bytes = [&, kind = kind](int batch, Precision precision) {
      TrainOptions options;
      options.model.kind = kind;
      options.batches.size = batch;
      options.precision = precision;
      return bytes_of(options, dataset);
    };
    const std::int64_t rows = std::int64_t{1024} * 16 * 11;  // of the first layer
    EXPECT_GT(bytes(1024, Precision::kFp32), rows * 256 * 4 * 2) << name << ": its result and the gradient of it";
    EXPECT_LT(bytes(1024, Precision::kBf16), bytes(1024, Precision::kFp32) * 7 / 10) << name;
    EXPECT_LT(bytes(64, Precision::kFp32), bytes(1024, Precision::kFp32)) << name;
  }
}

TEST(ResidentStepsBytes, CountWhatIsBetweenTheLayers) {
  if (!SALIENT_HAS_CUDA) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 100);
  for (const auto& [kind, name] : resident_kinds()) {
    if (kind == ModelKind::kSageRi) continue;
    const auto bytes = [&, kind = kind](auto&& change) {
      TrainOptions options;
      options.model.kind = kind;
      options.precision = Precision::kFp32;
      change(options.model);
      return bytes_of(options, dataset);
    };
    const std::int64_t layer = std::int64_t{1000} * 16 * 11 * 256 * 4;  // of the first layer, a matrix
    const auto plain = bytes([](ModelOptions&) {});
    const auto with_norm = bytes([](ModelOptions& o) { o.norm = NormKind::kLayer; });
    // rows that are passed on, and their gradient; those of transformer are without a norm, too (Stack::passes_z())
    const std::int64_t passed_on = kind == ModelKind::kTransformer ? 0 : 2 * layer;
    EXPECT_GT(with_norm, plain + passed_on) << name;
    const auto with_residual = bytes([](ModelOptions& o) { o.norm = NormKind::kLayer, o.residual = true; });
    if (kind == ModelKind::kSage) {
      EXPECT_LT(with_residual, with_norm + layer / 10) << "the features' map is a part of the convolution";
    } else {
      EXPECT_GT(with_residual, with_norm + layer) << name << ": the features' map";
    }
    EXPECT_GT(bytes([](ModelOptions& o) { o.jk = JumpingKnowledge::kCat; }), plain + passed_on) << name;
  }
}

}  // namespace
}  // namespace salient
