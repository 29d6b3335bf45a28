// prepare/importers/npz_tables.cpp - arrays are streamed; only a feature matrix in Fortran order is held and turned
#include "prepare/importers/npz_tables.h"

#include <array>
#include <cmath>
#include <utility>

#include "core/error.h"

namespace salient {

namespace {

[[noreturn]] void fail_at_shape(const NpzArray& array, const std::string& expected) {
  fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", expected " + expected);
}

std::string nodes_of(const RawGraph& graph) {
  return "the graph has nodes 0 to " + std::to_string(graph.num_nodes - 1);
}

/// use(id, position) for every id of some edges: integers, or floats that are whole numbers.
template <class Use>
void for_each_id(NpzArray& array, const RawGraph& graph, Use use) {
  const auto check = [&](auto id, std::uint64_t position, const std::string& text) {
    if (!(id >= 0 && id < static_cast<decltype(id)>(graph.num_nodes)))
      fail_at_item(array, position, text, nodes_of(graph));
    use(static_cast<NodeId>(id), position);
  };
  if (array.header().kind != 'f')
    return for_each_block<std::int64_t>(array, "edges", [&](std::span<const std::int64_t> ids, std::uint64_t position) {
      for (const std::int64_t id : ids) check(id, position, std::to_string(id)), ++position;
    });
  for_each_block<double>(array, "edges", [&](std::span<const double> ids, std::uint64_t position) {
    for (const double id : ids) {
      if (id != std::floor(id)) fail_at_item(array, position, std::to_string(id), "which is no whole number");
      check(id, position, std::to_string(id)), ++position;
    }
  });
}

/// [V, T], C or Fortran order.
void read_flags(NpzArray& array, RawGraph& graph) {
  const NpyHeader& header = array.header();
  const std::uint64_t num_nodes = header.shape[0], width = header.shape[1];
  graph.task = Task::kMultiLabel;
  graph.num_classes = static_cast<int>(width);
  graph.multi_labels.resize(num_nodes * width);
  for_each_block<float>(array, "labels", [&](std::span<const float> values, std::uint64_t position) {
    for (const float value : values) {
      const std::uint64_t at = header.is_fortran_order ? position % num_nodes * width + position / num_nodes : position;
      if (!flag_of(double{value}, graph.multi_labels[at]))
        fail_at_item(array, position, std::to_string(value), "allowed are 1, 0, and -1 or NaN for not known");
      ++position;
    }
  });
}

}  // namespace

void fail_at_item(const NpzArray& array, std::uint64_t item, const std::string& value, const std::string& rule) {
  fail(ErrorKind::kBadData, array.name() + ": item " + std::to_string(item) + " is " + value + ", " + rule);
}

EdgeLayout edge_layout_of(const NpzArray& array, EdgeLayout if_both) {
  const auto& shape = array.header().shape;
  const bool has_rows = shape.size() == 2 && shape[0] == 2, has_pairs = shape.size() == 2 && shape[1] == 2;
  if (!has_rows && !has_pairs) fail_at_shape(array, "(2, E) or (E, 2)");
  return has_rows && has_pairs ? if_both : has_rows ? EdgeLayout::kRows : EdgeLayout::kPairs;
}

void read_edges(NpzArray& array, EdgeLayout layout, RawGraph& graph) {
  const NpyHeader& header = array.header();
  const std::size_t two = layout == EdgeLayout::kRows ? 0 : 1;  // the axis of length 2
  if (header.shape.size() != 2 || header.shape[two] != 2) fail_at_shape(array, two == 0 ? "(2, E)" : "(E, 2)");
  const std::uint64_t num_edges = header.shape[1 - two];
  const bool alternates = (layout == EdgeLayout::kPairs) != header.is_fortran_order;
  graph.memory.check(2 * sizeof(NodeId) * num_edges, array.name());
  graph.sources.reserve(num_edges);
  graph.destinations.reserve(num_edges);
  for_each_id(array, graph, [&](NodeId id, std::uint64_t position) {
    const bool is_source = alternates ? position % 2 == 0 : position < num_edges;
    (is_source ? graph.sources : graph.destinations).push_back(id);
  });
}

void read_edges(NpzArray& sources, NpzArray& destinations, RawGraph& graph) {
  for (auto& [array, ids] : {std::pair(&sources, &graph.sources), std::pair(&destinations, &graph.destinations)}) {
    if (array->header().shape.size() != 1) fail_at_shape(*array, "(E,)");
    graph.memory.check(sizeof(NodeId) * array->header().shape[0], array->name());
    ids->reserve(array->header().shape[0]);
    for_each_id(*array, graph, [&ids = ids](NodeId id, std::uint64_t) { ids->push_back(id); });
  }
  if (graph.sources.size() != graph.destinations.size())
    fail_at_shape(destinations, "(" + std::to_string(graph.sources.size()) + ",), an end for every source");
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

int feature_dim_of(const NpzArray& array, std::uint64_t num_nodes) {
  constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 20;
  const auto& shape = array.header().shape;
  const bool fits = shape.size() == 2 && shape[0] == num_nodes && shape[1] > 0 && shape[1] <= kMaxDim;
  if (!fits) fail_at_shape(array, "(" + std::to_string(num_nodes) + ", F)");
  return static_cast<int>(shape[1]);
}

void read_features(NpzArray& array, RawGraph& graph) {
  const NpyHeader& header = array.header();
  graph.features.dim = feature_dim_of(array, graph.num_nodes);
  const std::size_t num_rows = header.shape[0], dim = header.shape[1];
  const std::uint64_t turned = header.is_fortran_order ? num_rows * dim * sizeof(float) : 0;
  graph.memory.check(num_rows * dim * size_of(graph.features.type) + turned, array.name());
  graph.features.rows.reserve(num_rows * dim * size_of(graph.features.type));
  std::vector<float> columns;
  columns.reserve(turned / sizeof(float));
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

void read_labels(NpzArray& array, RawGraph& graph) {
  const auto& shape = array.header().shape;
  const bool fits = shape.size() == 1 || (shape.size() == 2 && shape[1] > 0 && shape[1] <= kMaxClasses);
  if (!fits || shape[0] != graph.num_nodes)
    fail_at_shape(array, "(" + std::to_string(graph.num_nodes) + ", 1), or more columns for several labels");
  if (shape.size() == 2 && shape[1] > 1) return read_flags(array, graph);
  graph.labels.reserve(graph.num_nodes);
  for_each_block<float>(array, "labels", [&](std::span<const float> values, std::uint64_t position) {
    for (const float value : values) {
      std::int32_t label = 0;
      if (!label_of(double{value}, label))
        fail_at_item(array, position, std::to_string(value), "which is no class (0, 1, ..., or -1 or NaN for none)");
      graph.labels.push_back(label);
      ++position;
    }
  });
  graph.num_classes = *std::ranges::max_element(graph.labels) + 1;
}

}  // namespace salient
