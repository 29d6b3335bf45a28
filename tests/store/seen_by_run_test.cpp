// tests/store/seen_by_run_test.cpp - another data set in the classes and columns of a run, in every type and layout.
#include "store/seen_by_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "tests/support/datasets.h"

namespace salient {
namespace {

template <class T>
std::vector<std::remove_const_t<T>> items(std::span<T> span) {
  return {span.begin(), span.end()};
}
using Flags = std::vector<std::int8_t>;

bool all_unknown(const auto& labels) {
  return std::ranges::all_of(labels, [](auto label) { return label == -1; });
}

DataSchema run_with(int num_classes, int feature_dim, Task task = Task::kMultiClass) {
  return {.task = task, .num_classes = num_classes, .feature_dim = feature_dim};
}

TEST(SeenByRun, WhatIsAsTheRunHasItIsNotCopied) {
  const Dataset dataset = test::generated_dataset(50, 3, 4);
  const Dataset seen = seen_by_run(dataset, run_with(7, 4), {});
  EXPECT_EQ(seen.labels.data(), dataset.labels.data());
  EXPECT_EQ(seen.features.data, dataset.features.data);
  EXPECT_EQ(seen.num_classes, 7) << "the model's";
}

TEST(SeenByRun, ClassesHaveTheRunsNumbers) {
  const Dataset dataset = test::generated_dataset(50, 3, 4);  // 5 classes
  const SchemaMatch match{.class_of = {1, 3, 0, 4, 2}, .unknown_classes = {"d", "e"}};
  const Dataset seen = seen_by_run(dataset, run_with(3, 4), match);
  for (NodeId v = 0; v < 50; ++v) EXPECT_EQ(seen.labels[v], v % 7 == 0 ? -1 : match.class_of[v % 5]) << v;
  EXPECT_EQ(seen.num_classes, 3);
}

TEST(SeenByRun, LabelsThatCannotBeComparedAreNone) {
  const Dataset classes = test::generated_dataset(50, 3, 4),
                flags = test::generated_dataset(50, 3, 4, FeatureType::kF16, 2);
  const SchemaMatch match{.has_comparable_labels = false};
  const Dataset one = seen_by_run(flags, run_with(3, 4), match);
  EXPECT_EQ(one.task, Task::kMultiClass);
  EXPECT_EQ(one.labels.size(), 50u);
  EXPECT_TRUE(all_unknown(one.labels));
  const Dataset several = seen_by_run(classes, run_with(3, 4, Task::kMultiLabel), match);
  EXPECT_EQ(several.label_table().num_nodes(), 50u);
  EXPECT_TRUE(all_unknown(several.multi_labels));
}

TEST(SeenByRun, SeveralLabelsANodeAreMovedAndThoseThatTheSetLacksAreNotKnown) {
  const Dataset dataset = test::generated_dataset(50, 3, 4, FeatureType::kF16, 3);
  const SchemaMatch match{.class_of = {3, 4, 0}, .unknown_classes = {"b"}};  // of four: 0, 3; label 1 is unknown
  const Dataset seen = seen_by_run(dataset, run_with(4, 4, Task::kMultiLabel), match);
  for (std::size_t v = 0; v < 50; ++v)
    EXPECT_EQ(items(seen.multi_labels.subspan(v * 4, 4)),
              (Flags{dataset.multi_labels[v * 3 + 2], -1, -1, dataset.multi_labels[v * 3]}))
        << v;
  const Dataset fewer = seen_by_run(dataset, run_with(5, 4, Task::kMultiLabel), {});
  EXPECT_EQ(items(fewer.multi_labels.subspan(5, 5)),
            (Flags{dataset.multi_labels[3], dataset.multi_labels[4], dataset.multi_labels[5], -1, -1}));
}

class ColumnsOfType : public testing::TestWithParam<FeatureType> {};

TEST_P(ColumnsOfType, AreInTheRunsOrder) {
  const Dataset dataset = test::generated_dataset(50, 3, 4, GetParam());
  const SchemaMatch match{.column_of = {3, 0, 2}};
  const Dataset seen = seen_by_run(dataset, run_with(5, 3), match);
  const std::size_t item = size_of(GetParam());
  ASSERT_EQ(seen.features.row_bytes, 3 * item);
  EXPECT_EQ(seen.features.fp8_scale, dataset.features.fp8_scale);
  for (NodeId v = 0; v < 50; ++v)
    for (std::size_t c = 0; c < 3; ++c)
      EXPECT_EQ(std::memcmp(seen.features.row(v) + c * item, dataset.features.row(v) + match.column_of[c] * item, item),
                0);
}

INSTANTIATE_TEST_SUITE_P(All, ColumnsOfType, testing::Values(FeatureType::kF16, FeatureType::kF32, FeatureType::kFp8));

TEST(SeenByRun, SparseColumnsAscendInTheRunsOrder) {
  const std::vector<std::int64_t> begin{0, 3, 3, 4};
  const std::vector<std::uint32_t> columns{0, 2, 3, 1};
  const std::vector<float> values{10, 12, 13, 21};
  Dataset dataset = test::generated_dataset(3, 1, 4, FeatureType::kF32);
  dataset.features = {};
  dataset.feature_layout = FeatureLayout::kCsr;
  dataset.sparse_features = {.begin = begin,
                             .columns = columns,
                             .values = reinterpret_cast<const std::byte*>(values.data()),
                             .longest = LongestRows(begin)};
  const Dataset seen = seen_by_run(dataset, run_with(5, 3), {.column_of = {3, 0, 2}});
  EXPECT_EQ(items(seen.sparse_features.begin), (std::vector<std::int64_t>{0, 3, 3, 3})) << "column 1 is left out";
  EXPECT_EQ(items(seen.sparse_features.columns), (std::vector<std::uint32_t>{0, 1, 2}));
  const auto* const moved = reinterpret_cast<const float*>(seen.sparse_features.values);
  EXPECT_EQ(std::vector<float>(moved, moved + 3), (std::vector<float>{13, 10, 12}));
  EXPECT_EQ(seen.sparse_features.longest.num_values(1), 3u);
}

TEST(SeenByRun, RowsOfPartsAloneCannotBeMoved) {
  Dataset dataset = test::generated_dataset(50, 3, 4);
  dataset.features.data = nullptr;
  EXPECT_NO_THROW((void)seen_by_run(dataset, run_with(5, 4), {}));
  EXPECT_THROW((void)seen_by_run(dataset, run_with(5, 4), {.column_of = {1, 0, 2, 3}}), Error);
}

}  // namespace
}  // namespace salient
