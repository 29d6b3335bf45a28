// tests/engine/train/link_leak_test.cpp - a model that sees the links that it is to predict learns to look there, and
// one that does not see them learns nothing where there is nothing to learn.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <vector>

#include "core/philox.h"
#include "engine/infer/roc_auc.h"
#include "engine/train/flat_adam.h"
#include "engine/train/link_model.h"
#include "loaders/batch_loader.h"
#include "models/batch_view.h"
#include "store/dataset.h"

namespace salient {
namespace {

constexpr NodeId kPairs = 1000;
constexpr int kWidth = 16;

/// Pairs (2 i, 2 i + 1) with both directions as entries, and features at random: nothing says which nodes are a pair.
struct DisjointPairs {
  explicit DisjointPairs(std::uint32_t seed) {
    for (NodeId v = 0; v < 2 * kPairs; ++v) {
      indices.push_back(v ^ 1);
      indptr.push_back(static_cast<EdgeOffset>(indices.size()));
      for (std::uint32_t d = 0; d < kWidth; ++d)
        features.push_back(static_cast<float>(philox4x32({{9, seed}}, {{v, d, 0, 0}}).word[0]) * 0x1p-31F - 1);
    }
    for (NodeId i = 0; i < kPairs; ++i) ends.insert(ends.end(), {2 * i, 2 * i + 1});
    labels.assign(2 * kPairs, -1);
    dataset.feature_dim = kWidth;
    dataset.feature_type = FeatureType::kF32;
    dataset.graph = {indptr, indices};
    dataset.features = {reinterpret_cast<const std::byte*>(features.data()), 2 * kPairs, kWidth * sizeof(float)};
    dataset.labels = labels;
  }
  DisjointPairs(const DisjointPairs&) = delete;
  DisjointPairs& operator=(const DisjointPairs&) = delete;

  std::vector<EdgeOffset> indptr{0};
  std::vector<NodeId> indices{}, ends{};
  std::vector<float> features{};
  std::vector<std::int32_t> labels{};
  Dataset dataset{};
};

/// All links are one batch: no node has a neighbour then, by which ends of links would differ from those of negatives.
std::vector<BatchRequest> whole(std::span<const NodeId> numbers, std::uint32_t epoch) {
  return {{{1, epoch, 0}, numbers, numbers}};
}

/// Trains on some pairs. @return the AUC of others, whose entries are in their graph, too
double auc_with(ExcludedEntries exclude, ModelKind kind) {
  const DisjointPairs seen(1), others(2);
  const LinkRule rule{.negatives = 1, .exclude = exclude};
  const auto loader_of = [&](const DisjointPairs& pairs) {
    return std::make_unique<BatchLoader>(
        pairs.dataset, LoaderOptions{.rule = {{2, 2}}, .links = LinkBatches{pairs.ends, rule}, .num_workers = 0});
  };
  const auto model = make_model(
      {.kind = kind, .in_dim = kWidth, .hidden_dim = kWidth, .num_classes = kWidth, .num_layers = 2, .dropout = 0});
  add_decoder(*model, {DecoderKind::kDot, kWidth}, 1);
  FlatAdam adam(*model, {.lr = 0.01});
  adam.set_lr(0.01);
  const LinkDecoder decoder(*model, DecoderKind::kDot, kWidth);
  std::vector<NodeId> numbers(kPairs);
  std::iota(numbers.begin(), numbers.end(), NodeId{0});
  const auto scores_of = [&](const Batch& batch) {
    const BatchView view = view_of(batch);
    return decoder.scores(model->forward(view, {.seed = 1, .step = 0, .nodes = view.nodes}), view.pairs);
  };
  const auto training = loader_of(seen), test = loader_of(others);
  for (std::uint32_t epoch = 1; epoch <= 80; ++epoch) {
    training->start(whole(numbers, epoch));
    while (const Batch* batch = training->next()) {
      adam.zero_gradients();
      (link_loss_sum(scores_of(*batch), kPairs, LinkLoss::kBce) / (2 * kPairs)).backward();
      adam.step();
    }
  }
  const at::NoGradGuard no_gradients;
  test->start(whole(numbers, 0));
  const at::Tensor scores = scores_of(*test->next()).contiguous();
  std::vector<std::int8_t> labels(2 * kPairs, 0);
  std::fill_n(labels.begin(), kPairs, std::int8_t{1});
  return roc_auc({scores.const_data_ptr<float>(), 2 * kPairs}, labels).value();
}

// 1,000 links against as many negatives: a deviation of chance of sqrt(2001 / (12 * 10^6)) = 0.0129.
TEST(LinkLeak, WithoutItsOwnLinksABatchTeachesNothingOfDisjointPairs) {
  for (const ModelKind kind : {ModelKind::kSage, ModelKind::kGat})
    EXPECT_NEAR(auc_with(ExcludedEntries::kPair, kind), 0.5, 3 * 0.0129) << name_of(kind);
}

TEST(LinkLeak, ABatchThatSeesItsLinksTeachesToLookThere) {
  for (const ModelKind kind : {ModelKind::kSage, ModelKind::kGat})
    EXPECT_GT(auc_with(ExcludedEntries::kNone, kind), 0.9) << name_of(kind);
}

}  // namespace
}  // namespace salient
