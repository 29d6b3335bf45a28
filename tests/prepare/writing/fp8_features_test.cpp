// tests/prepare/writing/fp8_features_test.cpp - rows become fp8 with the least scale that holds them, or are refused.
#include "prepare/writing/fp8_features.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/fp8.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

RawFeatures rows_of(const std::vector<float>& values, int dim, FeatureType type) {
  RawFeatures features{.type = type, .dim = dim};
  append_feature_rows(features, values.data(), values.size(), "x");
  return features;
}

float scale_of(const std::vector<float>& values, int dim = 1) {
  ColumnRanges ranges(dim);
  ranges.add(values);
  return ranges.fp8_scale("x");
}

TEST(Fp8Features, AreTheNearestNumbersOfTheScale) {
  std::vector<float> values;  // more than one block
  for (int i = 0; i < 200'001; ++i) values.push_back(5 * std::sin(static_cast<float>(i)));
  for (const FeatureType type : {FeatureType::kF16, FeatureType::kF32}) {
    const RawFeatures features = in_fp8(rows_of(values, 3, type), "x");
    EXPECT_EQ(features.type, FeatureType::kFp8);
    EXPECT_EQ(features.fp8_scale, 0x1p-6F);
    ASSERT_EQ(features.rows.size(), values.size());
    EXPECT_EQ(features.num_rows(), 66'667u);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float stored = type == FeatureType::kF16 ? half_to_float(float_to_half(values[i])) : values[i];
      ASSERT_EQ(std::to_integer<std::uint8_t>(features.rows[i]), float_to_fp8(stored * 64)) << i;
    }
  }
}

TEST(Fp8Features, ZerosAndOnesStayThemselves) {
  const RawFeatures features = in_fp8(rows_of({0, 1, 1, 0}, 2, FeatureType::kF16), "x");
  std::vector<std::uint16_t> halves(4);
  fp8_to_halves(reinterpret_cast<const std::uint8_t*>(features.rows.data()), 4, features.fp8_scale, halves.data());
  EXPECT_EQ(halves, (std::vector<std::uint16_t>{0, 0x3C00, 0x3C00, 0}));
}

TEST(Fp8Features, ScaleIsTheLeastThatHoldsAll) {
  EXPECT_EQ(scale_of({448}), 1);
  EXPECT_EQ(scale_of({-448, 3}), 1);
  EXPECT_EQ(scale_of({449}), 2);
  EXPECT_EQ(scale_of({1e-9F, 0.01F}), kLeastFp8Scale);
  EXPECT_EQ(scale_of({0, 0}), kLeastFp8Scale);
  EXPECT_EQ(scale_of({57344}), kLargestFp8Scale);
}

TEST(Fp8Features, TablesThatOneScaleDoesNotHoldAreRefused) {
  EXPECT_COMPLAINT(scale_of({1, 57400, 2, -3}, 2), ErrorKind::kBadData,
                   "x: column 1 of the features has 57400, beyond the fp8 range of 57344");
  EXPECT_COMPLAINT(scale_of({2020, 0, 0.001F, 1, 0, 0.002F}, 3), ErrorKind::kBadData,
                   "x: column 2 of the features is at most 0.002 and column 0 up to 2020, too far apart");
  EXPECT_COMPLAINT(scale_of({1e-8F, 1e-7F, 0}, 3), ErrorKind::kBadData,
                   "x: column 1 of the features is at most 1e-07, others no more: too small for fp8; f32 has room");
  EXPECT_EQ(scale_of({0x1p-21F}), kLeastFp8Scale) << "the smallest that fits";
  EXPECT_EQ(scale_of({448, 0, 0x1p-6F}, 3), 1) << "just wide enough, and a column of zeros";
  RawFeatures sparse{.dim = 2, .layout = FeatureLayout::kCsr, .begin = {0}};
  EXPECT_COMPLAINT(in_fp8(sparse, "x"), ErrorKind::kUsage, "sparse features are not kept in fp8");
}

}  // namespace
}  // namespace salient
