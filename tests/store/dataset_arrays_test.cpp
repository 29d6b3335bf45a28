// tests/store/dataset_arrays_test.cpp - the list of arrays has all of them, with the shapes that a store has.
#include "store/dataset_arrays.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/datasets.h"
#include "tests/support/sparse_datasets.h"

namespace salient {
namespace {

/// A data set with the facts of another one, and the arrays that visit_arrays() gives.
Dataset copy_by_the_list(const Dataset& original) {
  std::map<std::string, std::span<const std::byte>> arrays;
  visit_arrays(original, graph_size_of(original),
               [&](const DatasetArray& array, const auto& items) { arrays[array.name] = std::as_bytes(items); });
  Dataset copy;
  copy.facts() = original.facts();
  visit_arrays(copy, {}, [&]<class T>(const DatasetArray& array, std::span<const T>& items) {
    const std::span<const std::byte> bytes = arrays.at(array.name);
    items = {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  });
  return copy;
}

template <class T>
void expect_same(std::span<const T> found, std::span<const T> expected, const char* what) {
  EXPECT_EQ(found.data(), expected.data()) << what;
  EXPECT_EQ(found.size(), expected.size()) << what;
}

void expect_all_arrays(const Dataset& original) {
  const Dataset copy = copy_by_the_list(original);
  expect_same(copy.graph.indptr, original.graph.indptr, "indptr");
  expect_same(copy.graph.indices, original.graph.indices, "indices");
  expect_same(copy.labels, original.labels, "labels");
  expect_same(copy.multi_labels, original.multi_labels, "multi_labels");
  expect_same(copy.targets, original.targets, "targets");
  expect_same(copy.node_times, original.node_times, "node_times");
  expect_same(copy.train, original.train, "train");
  expect_same(copy.valid, original.valid, "valid");
  expect_same(copy.test, original.test, "test");
  expect_same(copy.sparse_features.begin, original.sparse_features.begin, "feature_begin");
  expect_same(copy.sparse_features.columns, original.sparse_features.columns, "feature_columns");
  EXPECT_EQ(copy.sparse_features.values, original.sparse_features.values);
  EXPECT_EQ(copy.features.data, original.features.data);
  EXPECT_EQ(copy.features.num_rows, original.features.num_rows);
  EXPECT_EQ(copy.features.row_bytes, original.features.row_bytes);
  EXPECT_EQ(copy.features.fp8_scale, original.features.fp8_scale);
  EXPECT_EQ(copy.edge_features.data, original.edge_features.data);
  EXPECT_EQ(copy.edge_features.num_rows, original.edge_features.num_rows);
  EXPECT_EQ(copy.edge_features.row_bytes, original.edge_features.row_bytes);
}

TEST(DatasetArrays, TheListHasEveryArray) {
  expect_all_arrays(test::generated_dataset(50, 4, 7));
  expect_all_arrays(test::generated_dataset(50, 4, 7, FeatureType::kF32, /*num_labels=*/3));
  expect_all_arrays(test::sparse_twins(50, 4, 16).sparse);

  const std::vector<std::int64_t> times(50, 7);
  Dataset timed = test::generated_dataset(50, 4, 7);
  timed.has_node_times = true;
  timed.node_times = times;
  expect_all_arrays(timed);

  expect_all_arrays(test::with_edge_features(test::generated_dataset(50, 4, 7), 3));

  const std::vector<float> targets(50 * 3, 0.5F);
  Dataset values = test::generated_dataset(50, 4, 7);
  values.task = Task::kRegression;
  values.num_classes = 3;
  values.labels = {};
  values.targets = targets;
  expect_all_arrays(values);
}

TEST(DatasetArrays, ShapesAreThoseOfTheBytes) {
  for (const Dataset& dataset : {test::generated_dataset(50, 4, 7), test::sparse_twins(50, 4, 16).sparse,
                                 test::with_edge_features(test::generated_dataset(50, 4, 7), 3),
                                 test::generated_dataset(50, 4, 7, FeatureType::kF16, /*num_labels=*/3)}) {
    visit_arrays(dataset, graph_size_of(dataset), [](const DatasetArray& array, const auto& items) {
      std::size_t bytes = item_bytes(array.stored);
      for (const std::uint64_t dimension : array.shape_of(items.size_bytes())) bytes *= dimension;
      EXPECT_EQ(bytes, items.size_bytes()) << array.name;
    });
  }
}

TEST(DatasetArrays, FeaturesThatAreElsewhereKeepTheirPlace) {
  Dataset original = test::generated_dataset(50, 4, 7);
  original.features.data = nullptr;  // those of parts
  const Dataset copy = copy_by_the_list(original);
  EXPECT_EQ(copy.features.data, nullptr);
  EXPECT_EQ(copy.features.row_bytes, original.features.row_bytes);
}

}  // namespace
}  // namespace salient
