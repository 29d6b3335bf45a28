// store/dataset_arrays.h - the arrays of a data set as one list, which those walk who write, open or share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "store/dataset.h"
#include "store/store_arrays.h"

namespace salient {

/// A dimension that the facts of a data set leave open.
inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

enum class ArrayPart : std::uint8_t { kGraph, kFeatures, kLabels, kSplits };

struct DatasetArray {
  const char* name;  ///< to other processes
  ArrayPart part;
  StoreArray stored;                 ///< its file and type in a store
  std::vector<std::uint64_t> shape;  ///< dimension 0 may be kAnyLength

  /// The shape of so many bytes of it. @param num_bytes  of whole items
  std::vector<std::uint64_t> shape_of(std::size_t num_bytes) const {
    std::vector<std::uint64_t> whole = shape;
    if (whole[0] == kAnyLength) whole[0] = num_bytes / item_bytes(stored);
    return whole;
  }
};

/// How many items the graph has, where no array says so yet.
struct GraphSize {
  std::uint64_t num_nodes = 0, num_entries = 0;
};

/// Calls visit(array, items) for every array that a data set with these facts has, in the order of a store's files; an
/// array that some data sets lack is a row with its condition. Rows of features, and their values, are bytes.
///
/// @param visit  items is const std::span<const T>& of a const Dataset, else std::span<const T>&: it may set them
template <class Data, class Visit>
requires std::is_same_v<std::remove_const_t<Data>, Dataset>
void visit_arrays(Data& dataset, const GraphSize& size, Visit&& visit) {
  constexpr bool kMaySet = !std::is_const_v<Data>;
  const std::uint64_t nodes = size.num_nodes;
  const auto width = static_cast<std::uint64_t>(dataset.num_classes);
  const FeatureType type = dataset.feature_type;
  using enum ArrayPart;
  visit(DatasetArray{"indptr", kGraph, kIndptrArray, {nodes + 1}}, dataset.graph.indptr);
  visit(DatasetArray{"indices", kGraph, kIndicesArray, {size.num_entries}}, dataset.graph.indices);
  switch (dataset.task) {
    case Task::kMultiClass:
      visit(DatasetArray{"labels", kLabels, labels_array(dataset.task), {nodes}}, dataset.labels);
      break;
    case Task::kMultiLabel:
      visit(DatasetArray{"labels", kLabels, labels_array(dataset.task), {nodes, width}}, dataset.multi_labels);
      break;
    case Task::kRegression:
      visit(DatasetArray{"labels", kLabels, labels_array(dataset.task), {nodes, width}}, dataset.targets);
      break;
  }
  visit(DatasetArray{"train", kSplits, kTrainArray, {kAnyLength}}, dataset.train);
  visit(DatasetArray{"valid", kSplits, kValidArray, {kAnyLength}}, dataset.valid);
  visit(DatasetArray{"test", kSplits, kTestArray, {kAnyLength}}, dataset.test);
  if (dataset.has_sparse_features()) {
    auto& sparse = dataset.sparse_features;
    visit(DatasetArray{"feature_begin", kFeatures, kFeatureBeginArray, {nodes + 1}}, sparse.begin);
    std::span<const std::byte> values{sparse.values,
                                      sparse.values == nullptr ? 0 : sparse.columns.size() * size_of(type)};
    visit(DatasetArray{"feature_values", kFeatures, feature_values_array(type), {kAnyLength}}, values);
    if constexpr (kMaySet) sparse.values = values.data();
    visit(DatasetArray{"feature_columns", kFeatures, kFeatureColumnsArray, {kAnyLength}}, sparse.columns);
  } else if (dataset.feature_dim > 0) {
    RowTable table = dataset.features;
    std::span<const std::byte> rows{table.data, table.data == nullptr ? 0 : table.num_rows * table.row_bytes};
    const auto dim = static_cast<std::uint64_t>(dataset.feature_dim);
    visit(DatasetArray{"features", kFeatures, features_array(type), {nodes, dim}}, rows);
    if constexpr (kMaySet)
      dataset.features = {rows.data(), dataset.num_nodes(), dataset.feature_row_bytes(), dataset.fp8_scale};
  }
}

/// Of a data set that has its arrays.
inline GraphSize graph_size_of(const Dataset& dataset) {
  return {dataset.num_nodes(), static_cast<std::uint64_t>(dataset.num_edges())};
}

}  // namespace salient
