// loaders/prepare/ogb_binary.cpp - OGB's binary layout: data.npz and node-label.npz, streamed
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "engine/core/error.h"
#include "engine/core/progress.h"
#include "loaders/prepare/npz_reader.h"
#include "loaders/prepare/ogb_tables.h"

namespace salient {

namespace {

constexpr std::size_t kBlockItems = std::size_t{1} << 18;

[[noreturn]] void fail_at_item(const NpzArray& array, std::uint64_t item, const std::string& value,
                               const std::string& rule) {
  fail(ErrorKind::kBadData, array.name() + ": item " + std::to_string(item) + " is " + value + ", " + rule);
}

/// Streams a whole array: use(block, position of its first item).
template <class T, class Use>
void for_each_block(NpzArray& array, const char* label, Use use) {
  Progress progress(label, array.items_left(), "items");
  std::vector<T> block(kBlockItems);
  std::uint64_t position = 0;
  while (const std::size_t count = array.read(std::span(block))) {
    use(std::span<const T>(block.data(), count), position);
    position += count;
    progress.add(count);
  }
}

std::uint64_t read_count(const ZipArchive& archive, const char* key) {
  NpzArray array(archive, key);
  array.expect(NpzKind::kInteger);
  std::array<std::int64_t, 1> count{};
  if (array.header().num_items() != 1)
    fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", one count is expected");
  array.read(std::span<std::int64_t>(count));
  return static_cast<std::uint64_t>(count[0]);  // a negative one is refused as too large
}

/// Shape [2, E] in either order: in C order all sources come first, in Fortran order they alternate with destinations.
void read_edges(const ZipArchive& archive, RawGraph& graph) {
  NpzArray array(archive, "edge_index");
  array.expect(NpzKind::kInteger);
  const std::uint64_t num_edges = read_count(archive, "num_edges_list");
  array.expect_shape(std::array<std::uint64_t, 2>{2, num_edges});
  graph.sources.reserve(num_edges);
  graph.destinations.reserve(num_edges);
  const bool alternates = array.header().is_fortran_order;
  for_each_block<std::int64_t>(array, "edges", [&](std::span<const std::int64_t> ids, std::uint64_t position) {
    for (const std::int64_t id : ids) {
      if (static_cast<std::uint64_t>(id) >= graph.num_nodes)
        fail_at_item(array, position, std::to_string(id),
                     "the graph has nodes 0 to " + std::to_string(graph.num_nodes - 1));
      const bool is_source = alternates ? position % 2 == 0 : position < num_edges;
      (is_source ? graph.sources : graph.destinations).push_back(static_cast<NodeId>(id));
      ++position;
    }
  });
}

void read_features(const ZipArchive& archive, RawGraph& graph) {
  NpzArray array(archive, "node_feat");
  array.expect(NpzKind::kFloat);
  const NpyHeader& header = array.header();
  if (header.shape.size() != 2 || header.shape[0] != graph.num_nodes || header.shape[1] == 0 ||
      header.shape[1] > 1 << 20)
    fail(ErrorKind::kBadData, array.name() + ": has shape " + header.shape_text() + ", expected (" +
                                  std::to_string(graph.num_nodes) + ", F)");
  const std::size_t num_rows = header.shape[0], dim = header.shape[1];
  graph.features.dim = static_cast<int>(dim);
  graph.features.rows.reserve(num_rows * dim * size_of(graph.features.type));
  std::vector<float> columns;  // Fortran order only: the whole matrix, to be turned
  for_each_block<float>(array, "features", [&](std::span<const float> values, std::uint64_t) {
    if (header.is_fortran_order)
      columns.insert(columns.end(), values.begin(), values.end());
    else
      append_feature_rows(graph.features, values.data(), values.size(), array.name());
  });
  if (!header.is_fortran_order) return;
  std::vector<float> row(dim);
  for (std::size_t r = 0; r < num_rows; ++r) {
    for (std::size_t c = 0; c < dim; ++c) row[c] = columns[c * num_rows + r];
    append_feature_rows(graph.features, row.data(), dim, array.name());
  }
}

void read_labels(const OgbLayout& layout, RawGraph& graph) {
  const ZipArchive archive(layout.raw("node-label.npz"));
  NpzArray array(archive, "node_label");
  const auto& shape = array.header().shape;
  const bool fits =
      !shape.empty() && shape[0] == graph.num_nodes && (shape.size() == 1 || (shape.size() == 2 && shape[1] == 1));
  if (!fits)
    fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", expected (" +
                                  std::to_string(graph.num_nodes) + ", 1)");
  for_each_block<float>(array, "labels", [&](std::span<const float> values, std::uint64_t position) {
    for (const float value : values) {
      std::int32_t label = 0;
      if (!ogb_label_of(value, label)) fail_at_item(array, position, std::to_string(value), "which is no class");
      graph.labels.push_back(label);
      ++position;
    }
  });
}

}  // namespace

void read_ogb_binary(const OgbLayout& layout, RawGraph& graph) {
  const ZipArchive archive(layout.raw("data.npz"));
  graph.num_nodes = read_count(archive, "num_nodes_list");
  if (!is_node_count(graph.num_nodes))
    fail(ErrorKind::kBadData, archive.file().path().string() +
                                  ": num_nodes_list: a graph has 1 to 2^32 - 2 nodes, not " +
                                  std::to_string(graph.num_nodes));
  read_labels(layout, graph);
  read_edges(archive, graph);
  read_features(archive, graph);
}

}  // namespace salient
