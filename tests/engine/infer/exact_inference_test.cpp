// tests/engine/infer/exact_inference_test.cpp - layer by layer equals the sampled pass with all neighbours.
#include "engine/infer/exact_inference.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <vector>

#include "engine/infer/sampled_inference.h"
#include "tests/support/datasets.h"
#include "tests/support/inference.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Found;

std::vector<NodeId> some_rows() { return {17, 3, 399, 0, 250, 4}; }

std::vector<NodeId> some_nodes(const Dataset& dataset) {
  std::vector<NodeId> nodes = some_rows();
  for (NodeId& node : nodes) node += dataset.first_target();
  return nodes;
}

class ExactInference : public ::testing::TestWithParam<std::string> {
 protected:
  std::shared_ptr<Model> model_for(const Dataset& dataset) const {
    return test::model_with_history(GetParam(), dataset);
  }
  ExactOptions small_blocks() const {
    ExactOptions options;
    options.host_budget = std::int64_t{1} << 40;
    options.block_bytes = 20000;
    options.scratch = scratch_.path();
    return options;
  }
  bool is_typed() const { return salient::is_typed(test::options_of_variant(GetParam()).kind); }
  double tolerance() const { return is_typed() ? 1e-5 : 1e-4; }
  const test::Scratch scratch_;
};

TEST_P(ExactInference, EqualsTheSampledPassWithAllNeighbours) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32, FeatureType::kFp8}) {
    const Dataset dataset = test::dataset_for(GetParam(), type);
    const auto model = model_for(dataset);
    for (const std::vector<NodeId>& targets : {some_nodes(dataset), test::every_target(dataset)}) {
      const Found sampled = test::sampled(*model, dataset, targets, -1),
                  exact = test::exact(*model, dataset, targets, small_blocks());
      EXPECT_TRUE(at::allclose(exact.logits, sampled.logits, tolerance(), tolerance()))
          << GetParam() << ": " << (exact.logits - sampled.logits).abs().max();
      EXPECT_EQ(exact.counts.nodes, sampled.counts.nodes);
      EXPECT_EQ(exact.counts.labelled, sampled.counts.labelled);
      EXPECT_EQ(exact.counts.correct, sampled.counts.correct);
      EXPECT_GT(exact.counts.labelled, 0);
    }
  }
}

TEST_P(ExactInference, DoesNotDependOnBlocksWorkersOrOtherTargets) {
  const Dataset dataset = test::dataset_for(GetParam(), FeatureType::kF32);
  const auto model = model_for(dataset);
  const Found every = test::exact(*model, dataset, test::every_target(dataset), small_blocks());
  ExactOptions options = small_blocks();
  options.workers = 3;
  options.slots = 7;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, test::every_target(dataset), options).logits, every.logits));
  options.block_bytes = std::size_t{1} << 30;
  EXPECT_TRUE(at::allclose(test::exact(*model, dataset, test::every_target(dataset), options).logits, every.logits,
                           1e-5, 1e-5));
  const std::vector<NodeId> nodes = some_nodes(dataset), local = some_rows();
  const at::Tensor rows = at::tensor(std::vector<std::int64_t>(local.begin(), local.end()));
  EXPECT_TRUE(at::allclose(test::exact(*model, dataset, nodes, small_blocks()).logits,
                           every.logits.index_select(0, rows), 1e-5, 1e-5));
}

TEST_P(ExactInference, WritesTheSameBytesInMemoryAndInAFile) {
  const Dataset dataset = test::dataset_for(GetParam(), FeatureType::kF16);
  const auto model = model_for(dataset);
  ExactOptions options = small_blocks();
  options.storage = ActivationStorage::kMemory;
  const Found in_memory = test::exact(*model, dataset, some_nodes(dataset), options);
  options.storage = ActivationStorage::kFile;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, some_nodes(dataset), options).logits, in_memory.logits));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path())) << "nothing is left behind";
}

/// Of logits of size s, f16 may change 2^-11 s for each of two layers, and what the layers above make of it.
TEST_P(ExactInference, InF16DiffersByTheRoundingOfF16) {
  const Dataset dataset = test::dataset_for(GetParam(), FeatureType::kF32);
  const auto model = model_for(dataset);
  ExactOptions options = small_blocks();
  const Found single = test::exact(*model, dataset, test::every_target(dataset), options);
  options.type = ActivationDtype::kF16;
  options.kept_layer = 2;
  const Found half = test::exact(*model, dataset, test::every_target(dataset), options);
  const double size = single.logits.abs().max().item<double>(),
               difference = (half.logits - single.logits).abs().max().item<double>();
  EXPECT_GT(difference, 0) << "layers' results are f16";
  EXPECT_LT(difference, 8 * size / 2048) << size;
  EXPECT_EQ(half.embeddings.scalar_type(), at::kFloat);
  options.storage = ActivationStorage::kFile;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, test::every_target(dataset), options).logits, half.logits));
}

TEST_P(ExactInference, RefusesValuesBeyondF16) {
  const Dataset dataset = test::dataset_for(GetParam(), FeatureType::kF32);
  const auto model = model_for(dataset);
  const at::NoGradGuard no_gradients;
  for (at::Tensor& parameter : model->parameters()) parameter.mul_(1e6);
  ExactOptions options = small_blocks();
  options.type = ActivationDtype::kF16;
  EXPECT_COMPLAINT(test::exact(*model, dataset, some_nodes(dataset), options), ErrorKind::kUsage, "beyond its range");
}

TEST_P(ExactInference, HandsOutTheResultOfALayer) {
  const Dataset dataset = test::dataset_for(GetParam(), FeatureType::kF32);
  const auto model = model_for(dataset);
  for (int layer = 1; layer <= model->num_layers(); ++layer) {
    ExactOptions options = small_blocks();
    options.kept_layer = layer;
    const Found sampled = test::sampled(*model, dataset, some_nodes(dataset), -1, layer),
                exact = test::exact(*model, dataset, some_nodes(dataset), options);
    EXPECT_TRUE(at::allclose(exact.embeddings, sampled.embeddings, 1e-4, 1e-4)) << layer;
  }
}

TEST(ExactInferenceOfTypes, ComputesNoNodeThatNoLayerNeeds) {
  const Dataset dataset = test::typed_dataset(FeatureType::kF16);
  const auto model = test::model_with_history("rsage", dataset);
  const auto comm = make_self_communicator();
  const ComputeDevice device = test::on_the_cpu();
  const ExactPlan plan = plan_exact_inference({*model, device, *comm}, dataset, test::every_target(dataset),
                                              {.host_budget = std::int64_t{1} << 40});
  ASSERT_EQ(plan.layers.size(), 4U) << "the input and three layers";
  EXPECT_EQ(plan.needed.num_after.back(), 400U);
  EXPECT_LE(plan.needed.num_after.front(), dataset.num_nodes());
  EXPECT_GT(plan.needed.num_after[2], 400U) << "authors and fields are needed before the last layer";
  EXPECT_EQ(plan.activation_bytes,
            static_cast<std::int64_t>((plan.needed.num_after[0] + plan.needed.num_after[1]) * 16 * sizeof(float)))
      << "two results live at a time";
  EXPECT_NE(to_text(plan).find("input for "), std::string::npos) << to_text(plan);
}

TEST(ExactInferenceOfTypes, LeavesOutRelationsThatSamplingLeavesOut) {
  const Dataset dataset = test::typed_dataset(FeatureType::kF16);
  const auto model = test::model_with_history("rgcn", dataset);
  const std::vector<NodeId> targets = test::every_target(dataset);
  SamplingRule rule{.fanouts = {kAllNeighbors, kAllNeighbors, kAllNeighbors}};
  for (std::size_t r = 0; r < dataset.types.relations.size(); ++r)
    rule.relation_fanouts.push_back({kAllNeighbors, r == 1 ? 0 : 5, r == 4 ? 0 : kAllNeighbors});
  SamplingRule all = rule;
  for (std::vector<int>& fanouts : all.relation_fanouts)
    for (int& fanout : fanouts) fanout = fanout == 0 ? 0 : kAllNeighbors;
  ExactOptions options{.host_budget = std::int64_t{1} << 40};
  options.block_bytes = 20000;
  options.rule = rule;
  const test::Found exact = test::exact(*model, dataset, targets, options),
                    sampled = test::sampled_by(all, *model, dataset, targets);
  EXPECT_TRUE(at::allclose(exact.logits, sampled.logits, 1e-5, 1e-5));
  options.rule = {};
  EXPECT_FALSE(at::allclose(test::exact(*model, dataset, targets, options).logits, sampled.logits, 1e-3, 1e-3));
}

INSTANTIATE_TEST_SUITE_P(Models, ExactInference, ::testing::ValuesIn(test::model_variants()),
                         [](const auto& instance) { return test::name_of_variant(instance.param); });

}  // namespace
}  // namespace salient
