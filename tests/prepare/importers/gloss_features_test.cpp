// tests/prepare/importers/gloss_features_test.cpp - words are counted by texts, rows have length one.
#include "prepare/importers/gloss_features.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace salient {
namespace {

TEST(GlossFeatures, CountsTextsNotOccurrences) {
  WordCounts counts;
  counts.add_text("The cat's CAT-like cat x; the end");  // s, x: too short
  for (int i = 0; i < 9; ++i) counts.add_text("the dog dog");
  for (int i = 0; i < 10; ++i) counts.add_text("zebra" + std::string(i < 2 ? " owl" : ""));
  counts.add_text("");
  EXPECT_EQ(counts.num_texts(), 21u);
  EXPECT_EQ(counts.num_words(), 7u);
  // In more than a tenth of the texts: the (10), dog (9), zebra (10). owl is in 2, at most 2.1.
  EXPECT_EQ(counts.vocabulary(9), (std::vector<std::string>{"owl", "cat", "end", "like"}));
  EXPECT_EQ(counts.vocabulary(2), (std::vector<std::string>{"owl", "cat"}));

  const WordCounts::Rows rows = counts.rows({"like", "owl", "cat", "end"});
  EXPECT_EQ(rows.size(), 21u);
  EXPECT_EQ(rows.num_nonzeros(), 5u);
  std::vector<float> row(4, 0);
  rows.write(0, row.data());
  const auto third = static_cast<float>(1 / std::sqrt(3.0));
  EXPECT_EQ(row, (std::vector<float>{third, 0, third, third}));
}

}  // namespace
}  // namespace salient
