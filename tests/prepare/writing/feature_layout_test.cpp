// tests/prepare/writing/feature_layout_test.cpp - dense and sparse rows become each other; who stays what by itself.
#include "prepare/writing/feature_layout.h"

#include <gtest/gtest.h>

#include <cstring>
#include <optional>
#include <vector>

#include "tests/support/scratch.h"

namespace salient {
namespace {

/// `filled` values in each row, the last one in the last column.
RawFeatures sparse_rows(std::size_t num_rows, int dim, int filled, FeatureType type) {
  RawFeatures features{.type = type, .dim = dim, .layout = FeatureLayout::kCsr, .begin = {0}};
  for (std::size_t r = 0; r < num_rows; ++r) {
    for (int k = 0; k < filled; ++k) {
      features.columns.push_back(static_cast<std::uint32_t>(dim - filled + k));
      std::vector<std::byte> value(size_of(type));
      const float number = static_cast<float>(k + 1) / 4;
      convert_features({&number, 1}, type, dim, 0, "x", value.data());
      features.rows.insert(features.rows.end(), value.begin(), value.end());
    }
    features.begin.push_back(static_cast<std::int64_t>(features.columns.size()));
  }
  return features;
}

TEST(FeatureLayout, DenseAndSparseAreTheSameRows) {
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32}) {
    RawFeatures dense{.type = type, .dim = 4};
    const std::vector<float> values = {0, 1.5, 0, -2, 0, 0, -0.0F, 0, -3, 0, 4, 0.25};
    append_feature_rows(dense, values.data(), values.size(), "x");
    const RawFeatures sparse = in_layout(dense, FeatureLayout::kCsr, {});
    EXPECT_EQ(sparse.begin, (std::vector<std::int64_t>{0, 2, 2, 5}));
    EXPECT_EQ(sparse.columns, (std::vector<std::uint32_t>{1, 3, 0, 2, 3}));
    EXPECT_EQ(sparse.rows.size(), 5 * size_of(type));
    EXPECT_EQ(sparse.num_rows(), 3u);
    std::vector<float> positive = values;
    positive[6] = 0;
    RawFeatures expected{.type = type, .dim = 4};
    append_feature_rows(expected, positive.data(), positive.size(), "x");
    EXPECT_EQ(in_layout(sparse, FeatureLayout::kDense, {}).rows, expected.rows);
    EXPECT_EQ(in_layout(sparse, FeatureLayout::kCsr, {}).columns, sparse.columns);
  }
}

TEST(FeatureLayout, ByItselfWideAndMostlyEmptyRowsStaySparse) {
  const auto chosen = [](int dim, int filled, std::optional<FeatureLayout> wanted = {}) {
    return layout_for(sparse_rows(50, dim, filled, FeatureType::kF16), wanted);
  };
  EXPECT_EQ(chosen(1000, 10), FeatureLayout::kCsr);
  EXPECT_EQ(chosen(999, 10), FeatureLayout::kDense) << "narrow";
  EXPECT_EQ(chosen(1000, 81), FeatureLayout::kCsr) << "494 bytes a row";
  EXPECT_EQ(chosen(1000, 83), FeatureLayout::kDense) << "more than a quarter of 2000";
  EXPECT_EQ(chosen(1000, 10, FeatureLayout::kDense), FeatureLayout::kDense);
  EXPECT_EQ(chosen(9, 9, FeatureLayout::kCsr), FeatureLayout::kCsr);
  const RawFeatures dense = in_layout(sparse_rows(50, 1000, 1, FeatureType::kF16), FeatureLayout::kDense, {});
  EXPECT_EQ(layout_for(dense, {}), FeatureLayout::kDense) << "what came dense stays so";
  EXPECT_EQ(layout_for(dense, FeatureLayout::kCsr), FeatureLayout::kCsr);
}

TEST(FeatureLayout, KeepsToTheMemoryLimit) {
  EXPECT_COMPLAINT(in_layout(sparse_rows(50, 1000, 1, FeatureType::kF16), FeatureLayout::kDense, MemoryLimit(1 << 20)),
                   ErrorKind::kHostMemory, "dense features: needs");
}

}  // namespace
}  // namespace salient
