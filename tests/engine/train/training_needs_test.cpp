// tests/engine/train/training_needs_test.cpp - what a training is planned to take, by its options and its data set.
#include "engine/train/training_needs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>

#include "engine/train/run_model.h"
#include "models/describe/costs.h"
#include "tests/support/datasets.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

TrainOptions small_run() {
  TrainOptions options;
  options.model.num_layers = 2;
  options.model.hidden_dim = 8;
  options.batches.fanout = options.evaluation.fanout = {2, 2};
  options.batches.size = options.evaluation.batch_size = 10;
  options.machine.slots = 4;
  options.machine.workers = 1;
  return options;
}

/// The line that begins with `what`; nullopt if there is none.
std::optional<MemoryLine> line_of(const RunNeeds& needs, const std::string& what) {
  const auto line = std::ranges::find_if(needs.others, [&](const MemoryLine& l) { return l.what.starts_with(what); });
  return line == needs.others.end() ? std::nullopt : std::optional(*line);
}

/// Every tenth node is validated, and twice as many are tested.
Dataset with_evaluation(Dataset dataset) {
  dataset.valid = dataset.train.first(dataset.train.size() / 10);
  dataset.test = dataset.train.subspan(0, dataset.train.size() / 5);
  return dataset;
}

TEST(NeedsOfTraining, GoWhereTheModelComputes) {
  const Dataset dataset = with_evaluation(test::generated_dataset(3000, 10, 40));
  const TrainOptions options = small_run();
  const ModelOptions model = model_options_of(options, dataset);
  for (const bool on_gpu : {false, true}) {
    const RunNeeds needs = needs_of_training(options, dataset, on_gpu, /*num_ranks=*/1);
    ASSERT_EQ(needs.loaders.size(), 2U);
    for (const LoaderNeed& loader : needs.loaders) {
      EXPECT_EQ(loader.num_slots, 4);
      EXPECT_GT(loader.batch.slab(Residency::kHost).host_bytes, 0);
    }
    const MemoryLine parameters = line_of(needs, "parameters").value();
    EXPECT_EQ(on_gpu ? parameters.device_bytes : parameters.host_bytes, 16 * num_parameters(describe(model)));
    EXPECT_EQ(on_gpu ? parameters.host_bytes : parameters.device_bytes, 0);
    const MemoryLine activations = line_of(needs, "activations").value();
    EXPECT_EQ(on_gpu ? activations.device_bytes : activations.host_bytes, needs.loaders[0].batch.compute_bytes);
    EXPECT_GT(line_of(needs, "libraries").value().host_bytes, 0);
    EXPECT_FALSE(line_of(needs, "scores")) << "five classes have no ROC AUC";
  }
}

TEST(NeedsOfTraining, SayWhetherResidentStepsReadFeaturesOfEdges) {
  const Dataset plain = with_evaluation(test::generated_dataset(3000, 10, 40));
  const Dataset edges = test::with_edge_features(plain, 3);
  const auto needs = [&](const Dataset& dataset, auto&& change) {
    TrainOptions options = small_run();
    change(options);
    return needs_of_training(options, dataset, true, 1).resident_edges;
  };
  const auto as_it_is = [](TrainOptions&) {};
  EXPECT_EQ(needs(edges, as_it_is), SALIENT_HAS_CUDA != 0);
  EXPECT_FALSE(needs(plain, as_it_is));
  EXPECT_FALSE(needs(edges, [](TrainOptions& o) { o.model.edge_features = EdgeFeatures::kNone; }));
  EXPECT_FALSE(needs(edges, [](TrainOptions& o) { o.model.kind = ModelKind::kGatv2; }));
  EXPECT_FALSE(needs(edges, [](TrainOptions& o) { o.model.kind = ModelKind::kGcn; })) << "which reads none";
  EXPECT_FALSE(needs(edges, [](TrainOptions& o) { o.step = StepKind::kEager; }));
}

TEST(NeedsOfTraining, CountsScoresOfTheLargerSetTimesLabels) {
  const Dataset dataset = with_evaluation(test::generated_dataset(3000, 10, 40, FeatureType::kF16, /*num_labels=*/7));
  TrainOptions options = small_run();
  const auto nodes = static_cast<std::int64_t>(dataset.test.size());
  ASSERT_GT(dataset.test.size(), dataset.valid.size());
  const MemoryLine on_gpu = line_of(needs_of_training(options, dataset, true, 1), "scores").value();
  EXPECT_EQ(on_gpu.device_bytes, nodes * 7 * 8) << "logits of nodes, and label after label";
  EXPECT_EQ(on_gpu.host_bytes, nodes * (7 * 5 + 16)) << "scores and labels; what is sorted";
  const MemoryLine on_cpu = line_of(needs_of_training(options, dataset, false, 1), "scores").value();
  EXPECT_EQ(on_cpu.host_bytes, nodes * (7 * 9 + 16));
  EXPECT_EQ(on_cpu.device_bytes, 0);
  options.evaluation.metric = Metric::kF1;
  EXPECT_FALSE(line_of(needs_of_training(options, dataset, true, 1), "scores"));
}

TEST(NeedsOfTraining, HasTheShareOfOneRankInAGlobalBatch) {
  const Dataset dataset = with_evaluation(test::generated_dataset(3000, 10, 40));
  TrainOptions options = small_run();
  options.batches.global_size = 400;
  const auto slab_of = [&](int num_ranks) {
    return needs_of_training(options, dataset, true, num_ranks).loaders[0].batch.slab(Residency::kHost).host_bytes;
  };
  EXPECT_GT(slab_of(1), slab_of(4));
}

// The plan must not make the model: its parameters alone would not fit into any machine.
TEST(NeedsOfTraining, OfAHugeModelCostNothing) {
  const Dataset dataset = with_evaluation(test::generated_dataset(300, 5, 40));
  TrainOptions options = small_run();
  options.model.hidden_dim = 65536;
  options.model.num_layers = 64;
  options.batches.fanout = options.evaluation.fanout = std::vector<int>(64, 1);
  const RunNeeds needs = needs_of_training(options, dataset, false, 1);
  EXPECT_GT(line_of(needs, "parameters").value().host_bytes, std::int64_t{4} << 40);
  EXPECT_COMPLAINT(check(plan_residency({}, dataset, needs, {.host_bytes = std::int64_t{1} << 40})),
                   ErrorKind::kHostMemory, "of host memory");
}

}  // namespace
}  // namespace salient
