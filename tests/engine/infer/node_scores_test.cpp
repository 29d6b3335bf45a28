// tests/engine/infer/node_scores_test.cpp - which data sets have a ROC AUC, and the scores it is taken of.
#include "engine/infer/node_scores.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "engine/infer/roc_auc.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

/// Two classes: node v is of class v mod 2, every seventh node is unlabelled.
Dataset two_classes(std::vector<std::int32_t>& labels) {
  Dataset dataset = test::generated_dataset(50, 3, 4);
  dataset.num_classes = 2;
  for (std::int32_t v = 0; v < 50; ++v) labels.push_back(v % 7 == 0 ? -1 : v % 2);
  dataset.labels = labels;
  return dataset;
}

Figures figures_of(const Dataset& dataset, std::span<const NodeId> nodes, std::span<const float> logits) {
  NodeScores scores(dataset);
  const std::size_t width = logits.size() / nodes.size();
  for (std::size_t i = 0; i < nodes.size(); ++i) scores.add(nodes[i], logits.subspan(i * width, width));
  Figures figures;
  scores.add_to(figures);
  return figures;
}

TEST(NodeScores, AreForTwoClassesAndForSeveralLabels) {
  std::vector<std::int32_t> labels;
  EXPECT_TRUE(has_roc_auc(two_classes(labels)));
  EXPECT_EQ(num_binary_labels(two_classes(labels)), 1U);
  EXPECT_FALSE(has_roc_auc(test::generated_dataset(50, 3, 4))) << "five classes";
  const Dataset several = test::generated_dataset(50, 3, 4, FeatureType::kF16, /*num_labels=*/3);
  EXPECT_TRUE(has_roc_auc(several));
  EXPECT_EQ(num_binary_labels(several), 3U);
  const std::vector<NodeId> nodes{4, 2};  // label t of node v is (v + 2 t) mod 3 - 1
  EXPECT_EQ(binary_labels(several, nodes), (std::vector<std::int8_t>{0, 1, -1, 0, 1, -1}));
}

TEST(NodeScores, OfTwoClassesAreHowFarTheSecondIsAhead) {
  std::vector<std::int32_t> labels;
  const Dataset dataset = two_classes(labels);
  const std::vector<NodeId> nodes{1, 7, 2, 3, 4};                      // classes 1, unlabelled, 0, 1, 0
  const std::vector<float> logits{9, 10, 0, 100, 0, 2, -5, -1, 7, 3};  // ahead by 1, not counted, by 2, 4, -4
  const std::optional<double> found = figures_of(dataset, nodes, logits)[Metric::kRocAuc];
  EXPECT_EQ(found, roc_auc_reference(std::vector<float>{1, 2, 4, -4}, std::vector<std::int8_t>{1, 0, 1, 0}));
  EXPECT_EQ(found, 0.75);
  EXPECT_EQ(figures_of(dataset, nodes, logits)[Metric::kAveragePrecision], (1.0 + 2.0 / 3) / 2);
}

TEST(NodeScores, OfSeveralLabelsAreTheirLogits) {
  const Dataset dataset = test::generated_dataset(50, 3, 4, FeatureType::kF16, /*num_labels=*/3);
  const std::vector<NodeId> nodes = test::all_nodes(dataset);
  std::vector<float> right;
  for (const NodeId v : nodes)
    for (std::size_t t = 0; t < 3; ++t) right.push_back(static_cast<float>(dataset.multi_labels[v * 3 + t]));
  EXPECT_EQ(figures_of(dataset, nodes, right)[Metric::kRocAuc], 1.0);
  EXPECT_EQ(figures_of(dataset, nodes, right)[Metric::kAveragePrecision], 1.0);
  for (float& logit : right) logit = -logit;
  EXPECT_EQ(figures_of(dataset, nodes, right)[Metric::kRocAuc], 0.0);
}

}  // namespace
}  // namespace salient
