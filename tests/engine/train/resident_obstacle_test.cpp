// tests/engine/train/resident_obstacle_test.cpp - which trainings do not stay on the GPU, and why.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.h"
#include "engine/train/resident_steps.h"
#include "sampler/seed_order.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

/// Kinds that have resident steps. Which have none ObstacleToResidentSteps names.
std::vector<EnumName<ModelKind>> resident_kinds() {
  std::vector<EnumName<ModelKind>> kinds;
  for (const EnumName<ModelKind>& kind : names_of(ModelKind{}))
    if (kind.value != ModelKind::kTransformer) kinds.push_back(kind);
  return kinds;
}

constexpr DataResidency kOnDevice{.features = Residency::kDevice, .graph = GraphResidency::kDevice};

TEST(ObstacleToResidentSteps, IsNamed) {
  if (!has_resident_predictions()) return;  // "this build has no CUDA": resident_obstacle_test.cpp of engine/infer
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  const auto obstacle = [&](ModelKind kind, auto&& change) {
    TrainOptions options;
    options.model.kind = kind;
    change(options);
    return obstacle_to_resident_steps(options, dataset, kOnDevice, /*num_ranks=*/1);
  };
  const auto nothing = [](TrainOptions&) {};
  EXPECT_EQ(obstacle(ModelKind::kTransformer, nothing), "the model has no resident step");
  for (const auto& [kind, name] : resident_kinds()) {
    EXPECT_EQ(obstacle(kind, nothing), "") << name;
    EXPECT_EQ(obstacle(kind, [](TrainOptions& o) { o.model.hidden_dim = 100; }),
              "the width of the hidden layers is not a multiple of 8")
        << name;
    EXPECT_EQ(obstacle(kind, [](TrainOptions& o) { o.batches.fanout = {5, -1, 5}; }), "a fanout is not in 1 to 32");
    if (kind == ModelKind::kSageRi) continue;
    EXPECT_EQ(obstacle(kind, [](TrainOptions& o) { o.model.residual = true; }), "") << name;
    EXPECT_EQ(obstacle(kind, [](TrainOptions& o) { o.model.norm = NormKind::kBatch; }), "") << name;
    EXPECT_EQ(obstacle(kind, [](TrainOptions& o) { o.model.jk = JumpingKnowledge::kMax; }), "") << name;
    const auto layer_norm = [](int hidden_dim) {
      return [=](TrainOptions& o) { o.model.norm = NormKind::kLayer, o.model.hidden_dim = hidden_dim; };
    };
    EXPECT_EQ(obstacle(kind, layer_norm(2048)), "") << name;
    EXPECT_EQ(obstacle(kind, layer_norm(2056)), kind == ModelKind::kGatv2
                                                    ? "a layer of gatv2 has more than 2048 columns"
                                                    : "a layer norm has more than 2048 columns")
        << name;
  }
  EXPECT_EQ(obstacle(ModelKind::kSage, [](TrainOptions& o) { o.model.aggr = Aggregation::kMax; }),
            "the model takes the maximum over neighbours");
  for (const ModelKind kind : {ModelKind::kGat, ModelKind::kGatv2})
    EXPECT_EQ(obstacle(kind, [](TrainOptions& o) { o.model.heads = 4; }), "the model has several attention heads");
  EXPECT_EQ(obstacle(ModelKind::kGatv2, [](TrainOptions& o) { o.model.hidden_dim = 2048; }), "");
  EXPECT_EQ(obstacle(ModelKind::kGatv2, [](TrainOptions& o) { o.model.hidden_dim = 2056; }),
            "a layer of gatv2 has more than 2048 columns");
  EXPECT_EQ(obstacle_to_resident_steps({}, dataset, {}, 1), "features and graph are not both in GPU memory");
}

TEST(ObstacleToResidentSteps, IsThatOfARanksShareOfTheGlobalBatch) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 7);
  TrainOptions options;
  options.model.num_layers = 4;
  options.batches = {.fanout = {32, 32, 32, 32}, .global_size = 400};  // 33 x 33 x 33 nodes a seed
  EXPECT_EQ(obstacle_to_resident_steps(options, dataset, kOnDevice, 1), "a batch may have more than 2^23 rows");
  EXPECT_EQ(obstacle_to_resident_steps(options, dataset, kOnDevice, 4), "");
}

TEST(TrainingSpec, HasRoomForEveryRanksShareOfEveryBatch) {
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
        EXPECT_EQ(training_spec(options, dataset, num_ranks).max_seeds, most)
            << num_seeds << " seeds, " << num_ranks << " ranks, batches of " << global_batch;
      }
    }
  }
}

TEST(PrecisionFor, IsBf16WhereStepsAreResidentAndNothingElseWasAskedFor) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  for (const auto& [kind, name] : resident_kinds()) {
    TrainOptions options;
    options.model.kind = kind;
    const auto found = [&](const DataResidency& data) { return precision_for(options, dataset, data, 1); };
    EXPECT_EQ(found(kOnDevice), Precision::kBf16) << name;
    EXPECT_EQ(found({}), Precision::kFp32) << name << ": data on the host";
    for (const auto& [precision, chosen] : names_of(Precision{})) {
      options.precision = precision;
      EXPECT_EQ(found(kOnDevice), precision) << name << " " << chosen;
    }
    options = {.model = {.kind = kind}, .step = StepKind::kEager};
    EXPECT_EQ(found(kOnDevice), Precision::kFp32) << name << ": eager steps";
    options = {.model = {.kind = kind}, .batches = {.fanout = {5, -1, 5}}};
    EXPECT_EQ(found(kOnDevice), Precision::kFp32) << name << ": steps that cannot be resident";
  }
}

TEST(TakesResidentSteps, RefusesWhatWasAskedForAndCannotBe) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  TrainOptions options;
  options.model = {.kind = ModelKind::kGat, .heads = 4};
  EXPECT_FALSE(takes_resident_steps(options, dataset, kOnDevice, 1));
  options.step = StepKind::kResident;
  EXPECT_THROW((void)takes_resident_steps(options, dataset, kOnDevice, 1), Error);
  options.model.heads = 1;
  EXPECT_TRUE(takes_resident_steps(options, dataset, kOnDevice, 1));
  options.step = StepKind::kEager;
  EXPECT_FALSE(takes_resident_steps(options, dataset, kOnDevice, 1));
}

TEST(TakesResidentSteps, AreEagerInFp32OfAModelWithoutThem) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  TrainOptions options;
  options.model.kind = ModelKind::kTransformer;
  EXPECT_EQ(precision_for(options, dataset, kOnDevice, 1), Precision::kFp32);
  EXPECT_FALSE(takes_resident_steps(options, dataset, kOnDevice, 1));
  options.step = StepKind::kResident;
  EXPECT_THROW((void)takes_resident_steps(options, dataset, kOnDevice, 1), Error);
}

TEST(TakesResidentSteps, TakesThemUnaskedWhereTheyAreFaster) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(100, 5, 7);
  for (const auto& [kind, name] : resident_kinds()) {
    TrainOptions options;
    options.model.kind = kind;
    for (const Precision precision : {Precision::kFp32, Precision::kTf32, Precision::kBf16}) {
      options.precision = precision;
      EXPECT_TRUE(takes_resident_steps(options, dataset, kOnDevice, 1)) << name;
    }
  }
}

TEST(ResidentStepsBytes, AreCountedWithoutAGpuForEveryModel) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 100);
  for (const auto& [kind, name] : resident_kinds()) {
    const auto bytes = [&, kind = kind](int batch, Precision precision) {
      TrainOptions options;
      options.model.kind = kind;
      options.batches.size = batch;
      options.precision = precision;
      return resident_steps_bytes(options, dataset, /*num_ranks=*/1);
    };
    const std::int64_t rows = std::int64_t{1024} * 16 * 11;  // of the first layer
    EXPECT_GT(bytes(1024, Precision::kFp32), rows * 256 * 4 * 2) << name << ": its result and the gradient of it";
    EXPECT_LT(bytes(1024, Precision::kBf16), bytes(1024, Precision::kFp32) * 7 / 10) << name;
    EXPECT_LT(bytes(64, Precision::kFp32), bytes(1024, Precision::kFp32)) << name;
  }
}

TEST(ResidentStepsBytes, CountWhatIsBetweenTheLayers) {
  if (!has_resident_predictions()) return;
  const Dataset dataset = test::generated_dataset(3000, 5, 100);
  for (const auto& [kind, name] : resident_kinds()) {
    if (kind == ModelKind::kSageRi) continue;
    const auto bytes = [&, kind = kind](auto&& change) {
      TrainOptions options;
      options.model.kind = kind;
      options.precision = Precision::kFp32;
      change(options.model);
      return resident_steps_bytes(options, dataset, /*num_ranks=*/1);
    };
    const std::int64_t layer = std::int64_t{1000} * 16 * 11 * 256 * 4;  // of the first layer, a matrix
    const auto plain = bytes([](ModelOptions&) {});
    const auto with_norm = bytes([](ModelOptions& o) { o.norm = NormKind::kLayer; });
    EXPECT_GT(with_norm, plain + 2 * layer) << name << ": the rows that are passed on, and their gradient";
    const auto with_residual = bytes([](ModelOptions& o) { o.norm = NormKind::kLayer, o.residual = true; });
    if (kind == ModelKind::kSage) {
      EXPECT_LT(with_residual, with_norm + layer / 10) << "the features' map is a part of the convolution";
    } else {
      EXPECT_GT(with_residual, with_norm + layer) << name << ": the features' map";
    }
    EXPECT_GT(bytes([](ModelOptions& o) { o.jk = JumpingKnowledge::kCat; }), plain + 2 * layer) << name;
  }
}

}  // namespace
}  // namespace salient
