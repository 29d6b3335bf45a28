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
  const std::vector<NodeId> nodes{1, 7, 2, 3, 4};  // classes 1, unlabelled, 0, 1, 0
  NodeScores scores(dataset, nodes);
  scores.add(std::vector<float>{9, 10, 0, 100});       // ahead by 1; the unlabelled node does not count
  scores.add(std::vector<float>{0, 2, -5, -1, 7, 3});  // ahead by 2, 4, -4
  EXPECT_EQ(scores.roc_auc(), roc_auc_reference(std::vector<float>{1, 2, 4, -4}, std::vector<std::int8_t>{1, 0, 1, 0}));
  EXPECT_EQ(scores.roc_auc(), 0.75);
}

TEST(NodeScores, OfSeveralLabelsAreTheirLogits) {
  const Dataset dataset = test::generated_dataset(50, 3, 4, FeatureType::kF16, /*num_labels=*/3);
  const std::vector<NodeId> nodes = test::all_nodes(dataset);
  NodeScores scores(dataset, nodes);
  std::vector<float> right;
  for (const NodeId v : nodes)
    for (std::size_t t = 0; t < 3; ++t) right.push_back(static_cast<float>(dataset.multi_labels[v * 3 + t]));
  scores.add(right);
  EXPECT_EQ(scores.roc_auc(), 1.0);
  NodeScores opposite(dataset, nodes);
  for (float& logit : right) logit = -logit;
  opposite.add(right);
  EXPECT_EQ(opposite.roc_auc(), 0.0);
}

}  // namespace
}  // namespace salient
