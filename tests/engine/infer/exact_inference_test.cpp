// tests/engine/infer/exact_inference_test.cpp - layer by layer equals the sampled pass with all neighbours; its parts.
#include "engine/infer/exact_inference.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "engine/infer/sampled_inference.h"
#include "tests/support/datasets.h"
#include "tests/support/inference.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

using test::Found;

std::vector<NodeId> some_nodes() { return {17, 3, 399, 0, 250, 4}; }

std::vector<NodeId> all_nodes(const Dataset& dataset) {
  std::vector<NodeId> nodes(dataset.num_nodes());
  std::iota(nodes.begin(), nodes.end(), NodeId{0});
  return nodes;
}

TEST(NeededNodes, AreThoseThatAWalkBackwardsReaches) {
  const Dataset dataset = test::generated_dataset(2000, 2, 4);
  for (const int num_layers : {1, 2, 4})
    for (const std::vector<NodeId>& targets : {some_nodes(), all_nodes(dataset), std::vector<NodeId>{5}}) {
      const NeededNodes needed = find_needed_nodes(dataset.graph, targets, num_layers);
      std::set<NodeId> expected(targets.begin(), targets.end());
      ASSERT_EQ(needed.num_after.size(), static_cast<std::size_t>(num_layers));
      for (std::size_t layer = needed.num_after.size(); layer-- > 0;) {
        const auto nodes = needed.after(layer);
        EXPECT_EQ(std::set<NodeId>(nodes.begin(), nodes.end()), expected);
        EXPECT_EQ(nodes.size(), expected.size()) << "each once";
        for (const NodeId v : std::vector<NodeId>(expected.begin(), expected.end()))
          for (EdgeOffset e = dataset.graph.indptr[v]; e < dataset.graph.indptr[v + 1]; ++e)
            expected.insert(dataset.graph.indices[static_cast<std::size_t>(e)]);
      }
      EXPECT_TRUE(std::equal(targets.begin(), targets.end(), needed.nodes.begin())) << "targets keep their order";
      for (NodeId v = 0; v < dataset.num_nodes() && !needed.row_of.empty(); ++v) {
        const auto found = std::find(needed.nodes.begin(), needed.nodes.end(), v);
        EXPECT_EQ(needed.row_of[v],
                  found == needed.nodes.end() ? kNoRow : static_cast<NodeId>(found - needed.nodes.begin()));
      }
    }
  EXPECT_TRUE(find_needed_nodes(dataset.graph, all_nodes(dataset), 3).row_of.empty());
}

TEST(RowBlocks, AreBoundedButForAHub) {
  const test::OwnedGraph star = test::star_graph(100);
  const std::vector<NodeId> nodes{1, 2, 0, 3, 4, 5};
  const auto blocks = cut_blocks(star.view(), nodes, 2);
  const std::vector<std::pair<std::size_t, std::size_t>> expected{{0, 2}, {2, 1}, {3, 2}, {5, 1}};
  ASSERT_EQ(blocks.size(), expected.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) EXPECT_EQ(std::pair(blocks[b].begin, blocks[b].count), expected[b]);
  EXPECT_EQ(largest_block(star.view(), nodes, blocks), 101U);
  EXPECT_EQ(cut_blocks(star.view(), nodes, 1000).size(), 1U);
  EXPECT_TRUE(cut_blocks(star.view(), {}, 10).empty());
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
  const test::Scratch scratch_;
};

TEST_P(ExactInference, EqualsTheSampledPassWithAllNeighbours) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32}) {
    const Dataset dataset = test::dataset_with_small_features(400, 6, 7, type);
    const auto model = model_for(dataset);
    for (const std::vector<NodeId>& targets : {some_nodes(), all_nodes(dataset)}) {
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
  const Found every = test::exact(*model, dataset, all_nodes(dataset), small_blocks());
  ExactOptions options = small_blocks();
  options.workers = 3;
  options.slots = 7;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, all_nodes(dataset), options).logits, every.logits));
  options.block_bytes = std::size_t{1} << 30;
  EXPECT_TRUE(at::allclose(test::exact(*model, dataset, all_nodes(dataset), options).logits, every.logits, 1e-5, 1e-5));
  const std::vector<NodeId> nodes = some_nodes();
  const at::Tensor rows = at::tensor(std::vector<std::int64_t>(nodes.begin(), nodes.end()));
  EXPECT_TRUE(at::allclose(test::exact(*model, dataset, nodes, small_blocks()).logits,
                           every.logits.index_select(0, rows), 1e-5, 1e-5));
}

TEST_P(ExactInference, WritesTheSameBytesInMemoryAndInAFile) {
  const Dataset dataset = test::dataset_with_small_features(400, 6, 7, FeatureType::kF16);
  const auto model = model_for(dataset);
  ExactOptions options = small_blocks();
  options.place = ActivationPlace::kMemory;
  const Found in_memory = test::exact(*model, dataset, some_nodes(), options);
  options.place = ActivationPlace::kFile;
  EXPECT_TRUE(at::equal(test::exact(*model, dataset, some_nodes(), options).logits, in_memory.logits));
  EXPECT_TRUE(std::filesystem::is_empty(scratch_.path())) << "nothing is left behind";
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

TEST(ExactPlan, TakesTheFastestPlaceThatHasRoom) {
  const Dataset dataset = test::generated_dataset(400, 6, 7);
  const auto model = test::model_with_history("sage", dataset);
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  const auto comm = make_self_communicator();
  ExactOptions options;
  const auto plan = [&] { return plan_exact_inference(*model, dataset, all_nodes(dataset), options, device, *comm); };
  EXPECT_EQ(plan().place, ActivationPlace::kFile);
  options.host_budget = plan().activation_bytes + plan().slab_bytes;
  EXPECT_EQ(plan().place, ActivationPlace::kMemory);
  EXPECT_EQ(plan().activation_bytes, 2 * 400 * 16 * 4) << "two layers of the three live at a time";
  EXPECT_NE(to_text(plan()).find("host memory"), std::string::npos);
  options.place = ActivationPlace::kDevice;
  EXPECT_COMPLAINT(plan(), ErrorKind::kUsage, "--device cuda");
}

TEST(HostMatrix, SaysSoWhenThereIsNoRoom) {
  const auto comm = make_self_communicator();
  const ComputeDevice device = ComputeDevice::choose(DeviceKind::kCpu, 0, 1);
  EXPECT_COMPLAINT(make_activations(4, 4, ActivationPlace::kFile, "absent/folder", device, *comm, "host"),
                   ErrorKind::kIo, "absent/folder");
  const std::size_t too_many = std::size_t{1} << 52;
  EXPECT_COMPLAINT(make_activations(too_many, 4, ActivationPlace::kMemory, "", device, *comm, "host"),
                   ErrorKind::kHostMemory, "--activations file");
}

}  // namespace
}  // namespace salient
