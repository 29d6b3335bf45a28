// store/dataset_arrays.h - the arrays of a data set as one list, which those walk who write, open or share one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "store/dataset.h"
#include "store/store_arrays.h"

namespace salient {

/// A dimension that the facts of a data set leave open.
inline constexpr std::uint64_t kAnyLength = ~std::uint64_t{0};

enum class ArrayPart : std::uint8_t { kGraph, kFeatures, kLabels, kSplits };

struct DatasetArray {
  const char* name;  ///< to other processes; valid during a visit, as the file's
  ArrayPart part;
  StoreArray stored;                  ///< its file and type in a store
  std::vector<std::uint64_t> shape;   ///< dimension 0 may be kAnyLength
  const char* measured_by = nullptr;  ///< of kAnyLength: the file whose length it has; null = any

  /// The shape of so many bytes of it. @param num_bytes  of whole items
  std::vector<std::uint64_t> shape_of(std::size_t num_bytes) const {
    std::vector<std::uint64_t> whole = shape;
    if (whole[0] != kAnyLength) return whole;
    whole[0] = num_bytes / item_bytes(stored);
    for (std::size_t d = 1; d < whole.size(); ++d) whole[0] /= whole[d];
    return whole;
  }
};

/// How many items the graph has, where no array says so yet.
struct GraphSize {
  std::uint64_t num_nodes = 0, num_entries = 0;
};

/// Dense rows. @param table  RowTable, const as the data set is
template <class Rows, class Visit>
void visit_rows(Rows& table, const FeatureShape& shape, std::uint64_t num_rows, const DatasetArray& array,
                Visit&& visit) {
  const RowTable has = table;
  std::span<const std::byte> rows{has.data, has.data == nullptr ? 0 : has.num_rows * has.row_bytes};
  visit(array, rows);
  if constexpr (!std::is_const_v<Rows>)
    table = {rows.data(), static_cast<std::size_t>(num_rows), shape.row_bytes(), shape.fp8_scale};
}

/// The features of one table. @param table, sparse  RowTable and SparseRowTable, const as the data set is
template <class Rows, class Sparse, class Visit>
void visit_features(Rows& table, Sparse& sparse, const FeatureShape& shape, const FeatureNames& names,
                    std::uint64_t num_rows, Visit&& visit) {
  constexpr bool kMaySet = !std::is_const_v<Rows>;
  const auto stored_as = [](const std::string& name, StoreArray array) {
    return StoreArray{name.c_str(), array.dtype};
  };
  const auto [row_file, begin_file, column_file, value_file] = names.files();
  using enum ArrayPart;
  if (shape.is_sparse()) {
    const StoreArray values_stored = stored_as(value_file, feature_values_array(shape.type));
    visit(DatasetArray{names.begin.c_str(), kFeatures, stored_as(begin_file, kFeatureBeginArray), {num_rows + 1}},
          sparse.begin);
    std::span<const std::byte> values{sparse.values,
                                      sparse.values == nullptr ? 0 : sparse.columns.size() * size_of(shape.type)};
    visit(DatasetArray{names.values.c_str(), kFeatures, values_stored, {kAnyLength}}, values);
    if constexpr (kMaySet) sparse.values = values.data();
    visit(DatasetArray{names.columns.c_str(),
                       kFeatures,
                       stored_as(column_file, kFeatureColumnsArray),
                       {kAnyLength},
                       values_stored.file},
          sparse.columns);
  } else if (shape.dim > 0) {
    const auto dim = static_cast<std::uint64_t>(shape.dim);
    visit_rows(table, shape, num_rows,
               {names.rows.c_str(), kFeatures, stored_as(row_file, features_array(shape.type)), {num_rows, dim}},
               visit);
  }
}

/// Features of edges, which are a part of the graph: those of partitioned data sets are in one place, too.
template <class Data, class Visit>
void visit_edge_features(Data& dataset, const GraphSize& size, Visit&& visit) {
  if (dataset.edge_feature_dim == 0) return;
  const std::uint64_t num_entries = std::is_const_v<Data> ? size.num_entries : dataset.graph.indices.size();
  const auto dim = static_cast<std::uint64_t>(dataset.edge_feature_dim);
  visit_rows(dataset.edge_features, dataset.edge_feature_shape(), num_entries,
             {"edge_features", ArrayPart::kGraph, edge_features_array(dataset.edge_feature_type), {num_entries, dim}},
             visit);
}

/// Calls visit(array, items) for every array that a data set with these facts has, in the order of a store's files; an
/// array that some data sets lack is a row with its condition. Rows of features, and their values, are bytes.
///
/// @param size   of a typed graph its number of nodes is not read: the schema has it
/// @param visit  items is const std::span<const T>& of a const Dataset, else std::span<const T>&: it may set them, and
///               complete() sets what follows from them
template <class Data, class Visit>
requires std::is_same_v<std::remove_const_t<Data>, Dataset>
void visit_arrays(Data& dataset, const GraphSize& size, Visit&& visit) {
  constexpr bool kMaySet = !std::is_const_v<Data>;
  const bool is_typed = dataset.types.is_typed();
  const std::uint64_t rows = is_typed ? slot_table_of(dataset.types).num_rows() : size.num_nodes;
  const std::uint64_t labelled = is_typed ? dataset.types.target().count : size.num_nodes;
  const auto width = static_cast<std::uint64_t>(dataset.num_classes);
  using enum ArrayPart;
  visit(DatasetArray{"indptr", kGraph, kIndptrArray, {rows + 1}}, dataset.graph.indptr);
  visit(DatasetArray{"indices", kGraph, kIndicesArray, {size.num_entries}}, dataset.graph.indices);
  auto& entries = dataset.graph.entries;
  if (dataset.has_edge_weights)
    visit(DatasetArray{"edge_weights", kGraph, kEdgeWeightsArray, {size.num_entries}}, entries.weights);
  if (dataset.has_edge_times)
    visit(DatasetArray{"edge_times", kGraph, kEdgeTimesArray, {size.num_entries}}, entries.times);
  visit_edge_features(dataset, size, visit);
  switch (dataset.task) {
    case Task::kMultiClass:
      visit(DatasetArray{"labels", kLabels, labels_array(dataset.task), {labelled}}, dataset.labels);
      break;
    case Task::kMultiLabel:
      visit(DatasetArray{"labels", kLabels, labels_array(dataset.task), {labelled, width}}, dataset.multi_labels);
      break;
    case Task::kRegression:
      visit(DatasetArray{"labels", kLabels, labels_array(dataset.task), {labelled, width}}, dataset.targets);
      break;
  }
  if (dataset.has_node_times)
    visit(DatasetArray{"node_times", kLabels, kNodeTimesArray, {labelled}}, dataset.node_times);
  visit(DatasetArray{"train", kSplits, kTrainArray, {kAnyLength}}, dataset.train);
  visit(DatasetArray{"valid", kSplits, kValidArray, {kAnyLength}}, dataset.valid);
  visit(DatasetArray{"test", kSplits, kTestArray, {kAnyLength}}, dataset.test);
  if (dataset.has_links)
    for (std::size_t s = 0; s < kLinkArrays.size(); ++s) {
      const auto& [ends, relations, times] = kLinkArrays[s];
      visit(DatasetArray{ends.file, kSplits, ends, {kAnyLength, 2}}, dataset.links[s].ends);
      if (is_typed)
        visit(DatasetArray{relations.file, kSplits, relations, {kAnyLength}, ends.file}, dataset.links[s].relations);
      if (dataset.has_link_times)
        visit(DatasetArray{times.file, kSplits, times, {kAnyLength}, ends.file}, dataset.links[s].times);
    }
  if (!is_typed)
    return visit_features(dataset.features, dataset.sparse_features, dataset.feature_shape(), FeatureNames(),
                          kMaySet ? dataset.num_nodes() : size.num_nodes, visit);
  if constexpr (kMaySet) dataset.type_features.resize(dataset.types.node_types.size());
  const FeatureTable none;
  for (std::size_t t = 0; t < dataset.types.node_types.size(); ++t) {
    const NodeType& type = dataset.types.node_types[t];
    if constexpr (kMaySet) {
      FeatureTable& table = dataset.type_features[t];
      visit_features(table.rows, table.sparse, type.features, FeatureNames(t), type.count, visit);
    } else {  // without features the facts alone are visited
      const FeatureTable& table = dataset.type_features.empty() ? none : dataset.type_features[t];
      visit_features(table.rows, table.sparse, type.features, FeatureNames(t), type.count, visit);
    }
  }
}

/// Of a data set that has its arrays.
inline GraphSize graph_size_of(const Dataset& dataset) {
  return {dataset.num_nodes(), static_cast<std::uint64_t>(dataset.num_edges())};
}

}  // namespace salient
