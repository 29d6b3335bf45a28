// tests/engine/infer/roc_auc_test.cpp - ROC AUC by ranks equals all pairs, ties and all.
#include "engine/infer/roc_auc.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace salient {
namespace {

TEST(RocAuc, KnownCases) {
  const std::vector<std::int8_t> labels{0, 0, 1, 1};
  EXPECT_EQ(roc_auc(std::vector<float>{0.1f, 0.4f, 0.35f, 0.8f}, labels), 0.75);  // the example of sklearn's page
  EXPECT_EQ(roc_auc(std::vector<float>{1, 2, 3, 4}, labels), 1.0);
  EXPECT_EQ(roc_auc(std::vector<float>{4, 3, 2, 1}, labels), 0.0);
  EXPECT_EQ(roc_auc(std::vector<float>{7, 7, 7, 7}, labels), 0.5);
  EXPECT_EQ(roc_auc(std::vector<float>{-0.0f, 0.0f, 0.0f, 1}, labels), 0.75);
}

TEST(RocAuc, EqualsAllPairs) {
  std::mt19937 random(1);
  for (const std::size_t count : {2u, 3u, 10u, 300u})
    for (const std::uint32_t distinct : {1u, 2u, 5u, 1000u})
      for (int repeat = 0; repeat < 5; ++repeat) {
        std::vector<float> scores;
        std::vector<std::int8_t> labels;
        for (std::size_t i = 0; i < count; ++i) {
          scores.push_back(static_cast<float>(random() % distinct) - 3);
          labels.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 3) - 1));  // some are unlabelled
        }
        const auto fast = roc_auc(scores, labels), slow = roc_auc_reference(scores, labels);
        ASSERT_EQ(fast.has_value(), slow.has_value());
        if (fast) {
          ASSERT_NEAR(*fast, *slow, 1e-12);
        }
      }
}

TEST(RocAuc, IsNotDefinedForOneClassOrWithoutNumbers) {
  EXPECT_FALSE(roc_auc(std::vector<float>{1, 2}, std::vector<std::int8_t>{1, 1}));
  EXPECT_FALSE(roc_auc(std::vector<float>{1, 2}, std::vector<std::int8_t>{0, -1}));
  EXPECT_FALSE(roc_auc({}, {}));
  EXPECT_FALSE(roc_auc(std::vector<float>{1, NAN}, std::vector<std::int8_t>{0, 1}));
}

TEST(MeanRocAuc, IsOverTheLabelsThatHaveBothClasses) {
  std::mt19937 random(2);
  for (const std::size_t num_labels : {1u, 3u, 20u})
    for (const std::size_t num_nodes : {2u, 4u, 50u}) {
      std::vector<float> scores;
      std::vector<std::int8_t> labels;
      double sum = 0, count = 0;
      for (std::size_t t = 0; t < num_labels; ++t) {
        std::vector<float> scores_of;
        std::vector<std::int8_t> labels_of;
        for (std::size_t i = 0; i < num_nodes; ++i) {
          scores_of.push_back(static_cast<float>(random() % 10));
          labels_of.push_back(static_cast<std::int8_t>(static_cast<int>(random() % 3) - 1));
        }
        if (const auto slow = roc_auc_reference(scores_of, labels_of)) {
          sum += *slow;
          ++count;
        }
        scores.insert(scores.end(), scores_of.begin(), scores_of.end());
        labels.insert(labels.end(), labels_of.begin(), labels_of.end());
      }
      const auto mean = mean_roc_auc(scores, labels, num_labels);
      ASSERT_EQ(mean.has_value(), count > 0);
      if (mean) {
        ASSERT_NEAR(*mean, sum / count, 1e-12);
      }
    }
}

TEST(MeanRocAuc, LeavesNoLabelOutForItsScores) {
  EXPECT_EQ(mean_roc_auc(std::vector<float>{1, 2, 5, 5}, std::vector<std::int8_t>{0, 1, 1, 1}, 2), 1.0);
  EXPECT_FALSE(mean_roc_auc(std::vector<float>{1, 2, NAN, 5}, std::vector<std::int8_t>{0, 1, 0, 1}, 2));
  EXPECT_EQ(mean_roc_auc(std::vector<float>{1, 2, NAN, 5}, std::vector<std::int8_t>{0, 1, -1, 1}, 2), 1.0);
  EXPECT_FALSE(mean_roc_auc(std::vector<float>{1, 2}, std::vector<std::int8_t>{0, -1}, 1));
}

}  // namespace
}  // namespace salient
