// prepare/importers/typed_nodes.cpp - see typed_nodes.h.
#include "prepare/importers/typed_nodes.h"

#include <span>
#include <string>
#include <utility>

#include "core/arena_of.h"
#include "core/error.h"
#include "prepare/formats/table_line.h"
#include "prepare/importers/edges_options.h"
#include "prepare/importers/feature_table.h"
#include "prepare/importers/node_arrays.h"
#include "prepare/importers/numbered_nodes.h"
#include "prepare/importers/scaled_array.h"
#include "prepare/importers/sparse_npz.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

RawFeatures read_rows(const fs::path& file, const TypedOptions& options) {
  if (file.extension() != ".npz")
    return options.scaling == FeatureScaling::kStandard
               ? read_scaled_array(file, options.feature_type, options.memory).features
               : read_features(file, options.feature_type, options.memory);
  const ZipArchive archive(file);
  const SparseMatrix matrix = read_sparse_matrix(archive, "", options.memory);
  return sparse_features(matrix, options.feature_type, file.string(), options.memory);
}

/// Reads the ids of the table, and its features if it has some. Row i of it has the i-th id that `take` gets.
CodedFeatures read_table(const NodeSource& source, const TypedOptions& options, const NodeTableOptions& table,
                         const TakeId& take) {
  const TableParts parts = parts_of(source.file, table);
  const bool labels_too = source.file == options.labels && source.type == options.target;
  if (!parts.has_features) {
    if (labels_too && parts.has_label)
      (void)read_label_table(source.file, table, take);
    else
      read_id_list(source.file, table, take);
    return {};
  }
  return read_feature_table(source.file, table, {{.scaling = options.scaling}, options.feature_type, labels_too}, take);
}

TypedNodes read_named(const NodeSource& source, const TypedOptions& options, const NodeTableOptions& table) {
  NameMap names(options.memory);
  TypedNodes nodes;
  CodedFeatures read = read_table(source, options, table, [&](std::string_view id) -> const char* {
    const std::size_t before = names.size();
    names.add(id);
    return names.size() == before ? "this node has a line already" : nullptr;
  });
  nodes.features = std::move(read.features);
  nodes.coding = std::move(read.coding);
  nodes.index = NodeIndex::of_names(std::move(names));
  return nodes;
}

TypedNodes read_numbered(const NodeSource& source, const TypedOptions& options, const NodeTableOptions& table) {
  std::vector<std::uint64_t> ids;
  TypedNodes nodes;
  CodedFeatures read = read_table(source, options, table, [&](std::string_view id) -> const char* {
    return parse_id(id, ids.emplace_back()) ? nullptr : "the id is no number, as the others are";
  });
  nodes.features = std::move(read.features);
  nodes.coding = std::move(read.coding);
  const std::array<std::span<const std::uint64_t>, 1> lists = {ids};
  arena_of(options.num_threads).execute([&] {
    nodes.index = NodeIndex::of_numbers(lists, options.memory);
    const std::vector<NodeId> places = distinct_nodes_of(nodes.index, ids, source.file, options.memory);
    if (nodes.features.dim > 0) reorder_rows(nodes.features, places, options.memory);
  });
  return nodes;
}

}  // namespace

NodeTableOptions table_options(const TypedOptions& options) {
  return {.label_column = options.label_column,
          .targets = options.targets,
          .blanks = options.unlabelled,
          .header = options.header,
          .num_threads = options.memory.num_parsers(options.num_threads),
          .memory = options.memory};
}

TypedNodes read_nodes(const NodeSource& source, const TypedOptions& options) {
  TypedNodes nodes;
  if (source.count) {
    nodes.index = NodeIndex::of_rows(*source.count);
  } else if (!is_text_table(source.file)) {
    nodes.features = read_rows(source.file, options);
    nodes.index = NodeIndex::of_rows(nodes.features.num_rows());
  } else {
    NodeTableOptions table = table_options(options);
    table.is_shared = source.file == options.labels && source.type == options.target;
    if (!table.is_shared) table.label_column = "", table.targets.clear();
    table.ids_are_numbers = !has_ids_of_text(source.file, table);
    nodes = table.ids_are_numbers ? read_numbered(source, options, table) : read_named(source, options, table);
  }
  nodes.count = nodes.index.num_nodes();
  return nodes;
}

}  // namespace salient
