// tests/prepare/importers/feature_losses_test.cpp - what f16, f32 and fp8 lose is counted, whatever the blocks are.
#include "prepare/importers/feature_losses.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "core/fp8.h"
#include "prepare/importers/raw_graph.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

/// Values of a matrix of `dim` columns, appended in blocks of `block`.
template <class T>
RawFeatures features_of(const std::vector<T>& values, int dim, FeatureType type, std::size_t block = SIZE_MAX) {
  RawFeatures features{.type = type, .dim = dim};
  for (std::size_t from = 0; from < values.size(); from += std::min(block, values.size() - from))
    append_feature_rows(features, values.data() + from, std::min(block, values.size() - from), "x.npy");
  return features;
}

template <class T>
std::string text_of(const std::vector<T>& values, int dim, FeatureType type, std::size_t block = SIZE_MAX) {
  return features_of(values, dim, type, block).losses.text("x.npy");
}

TEST(FeatureLosses, ZerosAreCountedByColumns) {
  const std::vector<float> values = {1, 1e-9F, 2, 0, -1, -1e-9F, 3, 1e-3F, 4, 2e-9F, 5, 2};
  for (const std::size_t block : {1U, 5U, 64U})
    EXPECT_EQ(text_of(values, 2, FeatureType::kF16, block),
              "x.npy: 3 features that are not 0 become 0 in f16 (column 1); f32 has room for them");
  const std::vector<std::string> names = {"age", "page\nrank"};
  EXPECT_EQ(features_of(values, 2, FeatureType::kF16).losses.text("x.csv", names),
            "x.csv: 3 features that are not 0 become 0 in f16 (column 1 'page\\x0arank'); f32 has room for them");
  EXPECT_EQ(text_of(values, 2, FeatureType::kF32), "") << "floats stay themselves";
  const std::vector<double> wide(values.begin(), values.end());
  EXPECT_EQ(text_of(wide, 2, FeatureType::kF16), text_of(values, 2, FeatureType::kF16));
  EXPECT_EQ(text_of(wide, 2, FeatureType::kF32), "");
}

TEST(FeatureLosses, ValuesThatBecomeEqualAreCounted) {
  const std::vector<float> values = {1, 52.520F, 2, 52.522F, 3, 52.520F, 4, 60};
  for (const std::size_t block : {1U, 3U, 64U})
    EXPECT_EQ(text_of(values, 2, FeatureType::kF16, block),
              "x.npy: different features become equal in f16 (column 1: 2 of 3 neighbours that differ); f32 has room "
              "for them");
  const std::vector<double> seconds = {1, 1.7e9, 2, 1.7e9 + 1, 3, 1.7e9 + 2};
  EXPECT_EQ(text_of(seconds, 2, FeatureType::kF32),
            "x.npy: different features become equal in f32 (column 1: 2 of 2 neighbours that differ); subtract an "
            "offset or scale them first");
}

TEST(FeatureLosses, WhatLeavesNothingIsRefused) {
  const auto refused = [](const std::vector<float>& values, int dim, const char* rule) {
    try {
      (void)text_of(values, dim, FeatureType::kF16);
      FAIL() << rule;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::kBadData);
      EXPECT_EQ(error.topic(), Topic::kHalfRange);
      EXPECT_NE(std::string(error.what()).find(rule), std::string::npos) << error.what();
    }
  };
  refused({1e-9F, 1e-8F, 1e-8F, 1e-9F}, 2, "4 features that are not 0 become 0 in f16 (columns 0 and 1)");
  refused({52.520F, 52.522F, 52.520F}, 1, "column 0: 2 of 2 neighbours that differ");
  refused({52.520F, 7, 52.522F, 7}, 2, "nothing else tells nodes apart");
  EXPECT_EQ(text_of(std::vector<float>{7, 7, 0, 7, 7, 0}, 3, FeatureType::kF16), "") << "they were equal";
}

TEST(FeatureLosses, OrdinaryFeaturesLoseNothingNoticeable) {
  std::vector<float> values;
  for (int i = 0; i < 40'000; ++i) values.push_back(std::sin(static_cast<float>(i) * 1.7F) + 1.5F);
  EXPECT_EQ(text_of(values, 4, FeatureType::kF16), "");
  std::vector<double> text(values.begin(), values.end());
  EXPECT_EQ(text_of(text, 4, FeatureType::kF32), "");
}

TEST(FeatureLosses, OfFp8AQuarterIsSaid) {
  const auto text_of_fp8 = [](const std::vector<float>& values) {
    std::vector<std::byte> stored(values.size());
    floats_to_fp8(values.data(), values.size(), 1, stored.data());
    FeatureLosses losses;
    losses.add(values, stored.data(), FeatureType::kFp8, 1);
    return losses.text("x.npy");
  };
  EXPECT_EQ(text_of_fp8({1, 1.01F, 2, 3, 4, 5}), "");
  EXPECT_NE(text_of_fp8({1, 1.01F, 1.02F, 3, 4}).find("column 0: 2 of 4 neighbours"), std::string::npos);
  EXPECT_NE(text_of_fp8({1e-4F, 1, 2, 3}).find("1 features that are not 0 become 0 in fp8"), std::string::npos);
}

TEST(FeatureLosses, OfSparseRowsOnlyEntriesCount) {
  FeatureLosses losses;
  const auto add = [&](std::size_t column, double value) {
    std::uint16_t half = 0;
    convert_features(std::span<const double>(&value, 1), FeatureType::kF16, 3, column, "x.npz",
                     reinterpret_cast<std::byte*>(&half));
    losses.add_entry(column, value, reinterpret_cast<const std::byte*>(&half), FeatureType::kF16, 3);
  };
  add(0, 1e-9);
  EXPECT_COMPLAINT((void)losses.text("x.npz"), 65, "x.npz: 1 features that are not 0 become 0 in f16 (column 0)");
  add(2, 52.520);
  add(2, 52.522);
  EXPECT_EQ(losses.text("x.npz"),
            "x.npz: 1 features that are not 0 become 0 in f16 (column 0), and different features become equal in f16 "
            "(column 2: 1 of 1 neighbours that differ); f32 has room for them");
}

TEST(FeatureLosses, ValuesOutOfRangeHaveTheirOwnText) {
  EXPECT_COMPLAINT(text_of(std::vector<double>{0, 1e39}, 2, FeatureType::kF32), 65,
                   "x.npy: row 0, column 1 is 1e+39, beyond the f32 range of 3.4e38");
  EXPECT_COMPLAINT(text_of(std::vector<double>{0, 1, 2, 1e39}, 2, FeatureType::kF16), 65,
                   "row 1, column 1 is 1e+39, beyond the f16 range of 65504");
  EXPECT_COMPLAINT(text_of(std::vector<float>{0, 65505}, 2, FeatureType::kF16), 65,
                   "column 1 is 65505, beyond the f16");
  EXPECT_COMPLAINT(text_of(std::vector<float>{0, NAN}, 2, FeatureType::kF32), 65, "is nan; features are finite");
}

}  // namespace
}  // namespace salient
