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

std::vector<NodeId> some_nodes() { return {17, 3, 399, 0, 250, 4}; }

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
  const test::Scratch scratch_;
};

TEST_P(ExactInference, EqualsTheSampledPassWithAllNeighbours) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32, FeatureType::kFp8}) {
    const Dataset dataset = test::dataset_with_small_features(400, 6, 7, type);
    const auto model = model_for(dataset);
    for (const std::vector<NodeId>& targets : {some_nodes(), test::all_nodes(dataset)}) {
      const Found sampled = test::sampled(*model, dataset, targets, -1),
                  exact = test::exact(*model, dataset, targets, small_blocks());
      EXPECT_TRUE(at::allclose(exact.logits, sampled.logits, 1e-4, 1e-4))
          << GetParam() << ": " << (exact.logits - sampled.logits).abs().max();
      EXPECT_EQ(exact.counts.nodes, sampled.counts.nodes);
      EXPECT_EQ(exact.counts.labelled, sampled.counts.labelled);
      EXPECT_EQ(exact.counts.correct, sampled.counts.correct);
      EXPECT_GT(exact.counts.labelled, 0);
    }
  }
}

TEST_P(ExactInference, DoesNotDependOnBlocksWorkersOrOtherTargets) {
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF32);
  const auto model = model_for(dataset);
  const Found every = test::exact(*model, dataset, test::all_nodes(dataset), small_blocks());
  ExactOptions options = small_blocks();
  options.workers = 3;
  options.slots = 7;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, test::all_nodes(dataset), options).logits, every.logits));
  options.block_bytes = std::size_t{1} << 30;
  EXPECT_TRUE(
      at::allclose(test::exact(*model, dataset, test::all_nodes(dataset), options).logits, every.logits, 1e-5, 1e-5));
  const std::vector<NodeId> nodes = some_nodes();
  const at::Tensor rows = at::tensor(std::vector<std::int64_t>(nodes.begin(), nodes.end()));
  EXPECT_TRUE(at::allclose(test::exact(*model, dataset, nodes, small_blocks()).logits,
                           every.logits.index_select(0, rows), 1e-5, 1e-5));
}

TEST_P(ExactInference, WritesTheSameBytesInMemoryAndInAFile) {
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF16);
  const auto model = model_for(dataset);
  ExactOptions options = small_blocks();
  options.storage = ActivationStorage::kMemory;
  const Found in_memory = test::exact(*model, dataset, some_nodes(), options);
  options.storage = ActivationStorage::kFile;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, some_nodes(), options).logits, in_memory.logits));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path())) << "nothing is left behind";
}

/// Of logits of size s, f16 may change 2^-11 s for each of two layers, and what the layers above make of it.
TEST_P(ExactInference, InF16DiffersByTheRoundingOfF16) {
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF32);
  const auto model = model_for(dataset);
  ExactOptions options = small_blocks();
  const Found single = test::exact(*model, dataset, test::all_nodes(dataset), options);
  options.type = ActivationDtype::kF16;
  options.kept_layer = 2;
  const Found half = test::exact(*model, dataset, test::all_nodes(dataset), options);
  const double size = single.logits.abs().max().item<double>(),
               difference = (half.logits - single.logits).abs().max().item<double>();
  EXPECT_GT(difference, 0) << "layers' results are f16";
  EXPECT_LT(difference, 8 * size / 2048) << size;
  EXPECT_EQ(half.embeddings.scalar_type(), at::kFloat);
  options.storage = ActivationStorage::kFile;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, test::all_nodes(dataset), options).logits, half.logits));
}

TEST_P(ExactInference, RefusesValuesBeyondF16) {
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF32);
  const auto model = model_for(dataset);
  const at::NoGradGuard no_gradients;
  for (at::Tensor& parameter : model->parameters()) parameter.mul_(1e6);
  ExactOptions options = small_blocks();
  options.type = ActivationDtype::kF16;
  EXPECT_COMPLAINT(test::exact(*model, dataset, some_nodes(), options), ErrorKind::kUsage, "beyond its range");
}

TEST_P(ExactInference, HandsOutTheResultOfALayer) {
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF32);
  const auto model = model_for(dataset);
  for (int layer = 1; layer <= model->num_layers(); ++layer) {
    ExactOptions options = small_blocks();
    options.kept_layer = layer;
    const Found sampled = test::sampled(*model, dataset, some_nodes(), -1, layer),
                exact = test::exact(*model, dataset, some_nodes(), options);
    EXPECT_TRUE(at::allclose(exact.embeddings, sampled.embeddings, 1e-4, 1e-4)) << layer;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ExactInference, ::testing::ValuesIn(test::model_variants()),
                         [](const auto& instance) { return test::name_of_variant(instance.param); });

}  // namespace
}  // namespace salient
