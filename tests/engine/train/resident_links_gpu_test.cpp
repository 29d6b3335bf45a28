// tests/engine/train/resident_links_gpu_test.cpp - links that are trained on the GPU alone have the losses of eager
// steps, and a batch's own links are no messages.
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/philox.h"
#include "engine/comm/make_communicator.h"
#include "engine/device/compute_device.h"
#include "engine/train/trainer.h"
#include "engine/train/training_plan.h"
#include "loaders/resident_data.h"
#include "tests/support/graphs.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

constexpr int kWidth = 24;

/// A graph without labels, whose entries are its training links; nodes have random features.
class LinkedDataset {
 public:
  LinkedDataset(test::OwnedGraph made, std::vector<NodeId> links) : graph_(std::move(made)), ends_(std::move(links)) {
    const auto num_nodes = static_cast<NodeId>(graph_.view().num_nodes());
    for (NodeId v = 0; v < num_nodes; ++v)
      for (std::uint32_t d = 0; d < kWidth; ++d)
        features_.push_back(static_cast<float>(philox4x32({{9, 1}}, {{v, d, 0, 0}}).word[0]) * 0x1p-31F - 1);
    labels_.assign(num_nodes, -1);
    dataset.name = "links";
    dataset.feature_dim = kWidth;
    dataset.feature_type = FeatureType::kF32;
    dataset.graph = graph_.view();
    dataset.features = {reinterpret_cast<const std::byte*>(features_.data()), num_nodes, kWidth * sizeof(float)};
    dataset.labels = labels_;
    dataset.has_links = true;
    dataset.is_symmetric = true;
    dataset.links[kTrainLinks] = {.ends = ends_};
  }
  LinkedDataset(const LinkedDataset&) = delete;
  LinkedDataset& operator=(const LinkedDataset&) = delete;

  Dataset dataset{};

 private:
  const test::OwnedGraph graph_;
  const std::vector<NodeId> ends_;
  std::vector<float> features_{};
  std::vector<std::int32_t> labels_{};
};

std::unique_ptr<LinkedDataset> power_law(NodeId num_nodes) {
  test::OwnedGraph graph = test::sorted(test::power_law_graph(num_nodes, 12, 3));
  std::vector<NodeId> ends;
  for (NodeId v = 0; v < num_nodes; v += 3)
    for (const NodeId u : graph.view().row(v))
      if (u != v && ends.size() < 6000) ends.insert(ends.end(), {u, v});
  return std::make_unique<LinkedDataset>(std::move(graph), std::move(ends));
}

TrainOptions options_of(ModelKind kind, StepKind step) {
  TrainOptions options;
  options.task = RunTask::kLink;
  options.model = {.kind = kind, .hidden_dim = 32, .num_layers = 2, .dropout = 0.3};
  options.batches = {.fanout = {8, 5}, .size = 256};
  options.evaluation.fanout = {8, 5};
  options.optimisation = {.epochs = 3, .lr = 0.003};
  options.output.checkpoint_every = 0;
  options.machine.workers = 2;
  options.machine.slots = 4;
  options.machine.threads = 2;
  options.precision = Precision::kFp32;
  options.step = step;
  return options;
}

TrainResult trained(const TrainOptions& options, const Dataset& dataset) {
  const test::Scratch scratch;
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCuda, 0, 2);
  const ResidentData data(dataset, kAllOnDevice);
  const auto comm = make_self_communicator();
  RunPlan plan = plan_training(options, dataset, residency_of(data.view()), *comm);
  EXPECT_EQ(plan.training.kind, *options.step) << plan.training.why;
  Trainer trainer(options, {dataset, data, device, *comm, std::move(plan), scratch.path()});
  return trainer.run();
}

std::vector<double> losses_of(const TrainOptions& options, const Dataset& dataset) {
  std::vector<double> losses;
  for (const EpochMetrics& epoch : trained(options, dataset).epochs) losses.push_back(*epoch.loss);
  return losses;
}

void expect_equal_losses(TrainOptions options, const Dataset& dataset, double tolerance, const std::string& what) {
  options.step = StepKind::kEager;
  const std::vector<double> eager = losses_of(options, dataset);
  options.step = StepKind::kResident;
  const std::vector<double> resident = losses_of(options, dataset);
  ASSERT_EQ(eager.size(), resident.size());
  EXPECT_NE(eager.front(), eager.back()) << what;
  for (std::size_t epoch = 0; epoch < eager.size(); ++epoch)
    EXPECT_NEAR(resident[epoch], eager[epoch], tolerance * std::abs(eager[epoch])) << what << ", epoch " << epoch + 1;
}

// 2000 links in batches of 256: the last one is short, and several steps are one graph.
TEST(ResidentLinks, HaveTheLossesOfEagerSteps) {
  const auto linked = power_law(1500);
  for (const ModelKind kind : {ModelKind::kSage, ModelKind::kGcn, ModelKind::kGin, ModelKind::kGat})
    expect_equal_losses(options_of(kind, StepKind::kEager), linked->dataset, 1e-3, name_of(kind));
  TrainOptions with_norm = options_of(ModelKind::kSage, StepKind::kEager);
  with_norm.model.norm = NormKind::kBatch;
  with_norm.model.residual = true;
  expect_equal_losses(with_norm, linked->dataset, 1e-3, "sage with batch norms");
}

TEST(ResidentLinks, HaveThemByEveryLossAndRuleOfNegatives) {
  const auto linked = power_law(1500);
  for (const auto& [loss, name] : names_of(LinkLoss{}))
    for (const LinkRule& rule : {LinkRule{.negatives = 1}, LinkRule{.negatives = 3, .corrupt = CorruptedEnd::kBoth},
                                 LinkRule{.negatives = 2, .corrupt = CorruptedEnd::kBoth, .is_strict = true}}) {
      TrainOptions options = options_of(ModelKind::kSage, StepKind::kEager);
      options.links = {.loss = loss, .rule = rule};
      options.optimisation.epochs = 2;
      expect_equal_losses(options, linked->dataset, 1e-3, std::string(name) + std::to_string(rule.negatives));
    }
}

// 256 hidden units in bf16: the first layer is one kernel each way, and sixteen steps are one graph.
TEST(ResidentLinks, HaveThemWithFusedLayersUpToTheRoundingOfBf16) {
  const auto linked = power_law(20'000);
  TrainOptions options = options_of(ModelKind::kSage, StepKind::kEager);
  options.model.hidden_dim = 256;
  options.model.num_layers = 3;
  options.batches = {.fanout = {10, 8, 5}, .size = 64};
  options.evaluation.fanout = {10, 8, 5};
  options.optimisation.lr = 0.0005;
  options.precision = Precision::kBf16;
  expect_equal_losses(options, linked->dataset, 0.03, "bf16");
}

TEST(ResidentLinks, ReduceTheLossOfAStarWhoseHubLosesAllOfItsRow) {
  test::OwnedGraph star;
  std::vector<NodeId> ends;
  for (NodeId v = 1; v < 500; ++v) star.indices.push_back(v), ends.insert(ends.end(), {v, 0});
  star.indptr.push_back(static_cast<EdgeOffset>(star.indices.size()));
  for (NodeId v = 1; v < 500; ++v) {
    star.indices.push_back(0);
    star.indptr.push_back(static_cast<EdgeOffset>(star.indices.size()));
  }
  const LinkedDataset linked(std::move(star), std::move(ends));
  expect_equal_losses(options_of(ModelKind::kSage, StepKind::kEager), linked.dataset, 1e-3, "star");
}

/// Pairs (2 i, 2 i + 1), each other's only neighbours, all of which are one batch.
double last_loss_of_pairs(ExcludedEntries exclude) {
  constexpr NodeId kPairs = 1000;
  test::OwnedGraph graph;
  std::vector<NodeId> ends;
  for (NodeId v = 0; v < 2 * kPairs; ++v) {
    graph.indices.push_back(v ^ 1);
    graph.indptr.push_back(static_cast<EdgeOffset>(graph.indices.size()));
  }
  for (NodeId i = 0; i < kPairs; ++i) ends.insert(ends.end(), {2 * i, 2 * i + 1});
  const LinkedDataset linked(std::move(graph), std::move(ends));
  TrainOptions options = options_of(ModelKind::kSage, StepKind::kResident);
  options.model.dropout = 0;
  options.batches.size = kPairs;
  options.links.rule.exclude = exclude;
  options.optimisation = {.epochs = 20, .lr = 0.01};  // of many epochs a model remembers the pairs
  return losses_of(options, linked.dataset).back();
}

// Nothing says which nodes are a pair, but for the entry between them: a loss of ln 2 is that of chance.
TEST(ResidentLinks, OfDisjointPairsTeachNothingUnlessABatchSeesThem) {
  EXPECT_GT(last_loss_of_pairs(ExcludedEntries::kPair), 0.6);
  EXPECT_LT(last_loss_of_pairs(ExcludedEntries::kNone), 0.45);
}

// Rows of nodes are as wide as the hidden layers, and the data set has no classes.
TEST(ResidentLinks, AreRankedAsByEagerPredictions) {
  const auto linked = power_law(1500);
  std::vector<NodeId> ends;
  for (NodeId v = 1; v < 1500; v += 3)
    for (const NodeId u : linked->dataset.graph.row(v))
      if (u != v && ends.size() < 2000) ends.insert(ends.end(), {u, v});
  linked->dataset.links[kValidLinks] = linked->dataset.links[kTestLinks] = {.ends = ends};
  for (const ModelKind kind : {ModelKind::kSage, ModelKind::kGcn})
    for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
      TrainOptions options = options_of(kind, StepKind::kEager);
      options.precision = precision;
      const TrainResult eager = trained(options, linked->dataset);
      options.step = StepKind::kResident;
      const TrainResult resident = trained(options, linked->dataset);
      const double tolerance = precision == Precision::kFp32 ? 0.01 : 0.03;
      EXPECT_NEAR(resident.valid.value(), eager.valid.value(), tolerance) << name_of(kind) << name_of(precision);
      EXPECT_GT(eager.valid.value(), 0.03) << "by chance 0.05; of rows that are all equal 0.02";
      EXPECT_NEAR(resident.test_figures[Metric::kMrr].value(), eager.test_figures[Metric::kMrr].value(), tolerance)
          << name_of(kind);
    }
}

TEST(ResidentLinks, RepeatTheirBits) {
  const auto linked = power_law(1500);
  TrainOptions options = options_of(ModelKind::kSage, StepKind::kResident);
  options.deterministic = true;  // else products may take other algorithms
  EXPECT_EQ(losses_of(options, linked->dataset), losses_of(options, linked->dataset));
}

}  // namespace
}  // namespace salient
