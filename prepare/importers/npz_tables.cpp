// prepare/importers/npz_tables.cpp - arrays are streamed; only a feature matrix in Fortran order is held and turned
#include "prepare/importers/npz_tables.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/value_text.h"
#include "prepare/importers/node_arrays.h"

namespace salient {

namespace {

[[noreturn]] void fail_at_shape(const NpzArray& array, const std::string& expected) {
  fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", expected " + expected);
}

/// use(node, position) for every id of some edges.
template <class Use>
void for_each_id(NpzArray& array, const RawGraph& graph, Use use) {
  for_each_block<std::uint64_t>(array, "edges", [&](std::span<const std::uint64_t> ids, std::uint64_t position) {
    for (const std::uint64_t id : ids) {
      if (id >= graph.num_nodes) fail_at_item(array.name(), position, std::to_string(id), no_node(id, graph.num_nodes));
      use(static_cast<NodeId>(id), position++);
    }
  });
}

/// use(value, position) for every number of labels; it returns null or the rule that the value breaks.
template <class Use>
void for_each_label(NpzArray& array, Use use) {
  const NpyHeader& header = array.header();
  const auto refuse = [&](std::uint64_t position, const std::string& text, const char* rule) {
    fail_at_item(array.name(), position, text, rule, kLabelTopic);
  };
  if (header.kind == 'f')
    return for_each_block<double>(array, "labels", [&](std::span<const double> values, std::uint64_t position) {
      for (const double value : values) {
        if (const char* rule = use(value, position)) refuse(position, to_text(value), rule);
        ++position;
      }
    });
  for_each_block<std::int64_t>(array, "labels", [&](std::span<const std::int64_t> values, std::uint64_t position) {
    for (const std::int64_t value : values) {
      const bool is_large = header.kind == 'u' && value < 0;  // from 2^63 on
      if (const char* rule = use(is_large ? 0x1p63 : static_cast<double>(value), position))
        refuse(position, integer_text(header, value), rule);
      ++position;
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
  for_each_label(array, [&](double value, std::uint64_t position) {
    const std::uint64_t at = header.is_fortran_order ? position % num_nodes * width + position / num_nodes : position;
    return flag_from(value, graph.multi_labels[at]);
  });
}

}  // namespace

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

NodePairs read_pairs(NpzArray& array, const std::array<EndNodes, 2>& ends, const MemoryLimit& memory) {
  const NpyHeader& header = array.header();
  if (header.shape.size() != 2 || header.shape[0] != 2) fail_at_shape(array, "(2, E)");
  const std::uint64_t num_edges = header.shape[1];
  memory.check(2 * sizeof(NodeId) * num_edges, array.name());
  NodePairs pairs;
  pairs.sources.reserve(num_edges);
  pairs.destinations.reserve(num_edges);
  for_each_block<std::uint64_t>(array, "edges", [&](std::span<const std::uint64_t> ids, std::uint64_t position) {
    for (const std::uint64_t id : ids) {
      const std::size_t end = header.is_fortran_order ? position % 2 : position / num_edges;
      if (id >= ends[end].count) fail_at_item(array.name(), position, std::to_string(id), ends[end].rule(id));
      (end == 0 ? pairs.sources : pairs.destinations).push_back(static_cast<NodeId>(id));
      ++position;
    }
  });
  return pairs;
}

std::uint64_t read_count(NpzArray& array) {
  std::array<std::uint64_t, 1> count{};
  if (array.header().num_items() != 1)
    fail(ErrorKind::kBadData, array.name() + ": has shape " + array.header().shape_text() + ", one count is expected");
  array.read(std::span<std::uint64_t>(count));
  return count[0];
}

int feature_dim_of(const NpzArray& array, std::uint64_t num_nodes) {
  constexpr std::uint64_t kMaxDim = std::uint64_t{1} << 20;
  const auto& shape = array.header().shape;
  const std::uint64_t dim = shape.size() == 1 ? 1 : shape.size() == 2 ? shape[1] : 0;
  const bool fits = dim > 0 && dim <= kMaxDim && shape[0] == num_nodes;
  if (!fits) fail_at_shape(array, "(" + std::to_string(num_nodes) + ", F)");
  return static_cast<int>(dim);
}

namespace {

/// As read_features(), by way of T, which holds every value of the array.
template <class T>
void read_features_as(NpzArray& array, RawGraph& graph) {
  const std::size_t num_rows = graph.num_nodes, dim = static_cast<std::size_t>(graph.features.dim);
  const bool is_turned = array.header().is_fortran_order && dim > 1;
  const std::uint64_t turned = is_turned ? num_rows * dim * sizeof(T) : 0;
  graph.memory.check(num_rows * dim * size_of(graph.features.type) + turned, array.name());
  graph.features.rows.reserve(num_rows * dim * size_of(graph.features.type));
  std::vector<T> columns;
  columns.reserve(turned / sizeof(T));
  const std::string name = array.name();
  for_each_block<T>(array, "features", [&](std::span<const T> values, std::uint64_t) {
    if (is_turned)
      columns.insert(columns.end(), values.begin(), values.end());
    else
      append_feature_rows(graph.features, values.data(), values.size(), name);
  });
  if (!is_turned) return;
  std::vector<T> row(dim);
  for (std::size_t r = 0; r < num_rows; ++r) {
    for (std::size_t c = 0; c < dim; ++c) row[c] = columns[c * num_rows + r];
    append_feature_rows(graph.features, row.data(), dim, name);
  }
}

}  // namespace

void read_features(NpzArray& array, RawGraph& graph) {
  graph.features.dim = feature_dim_of(array, graph.num_nodes);
  if (fits_float(array.header()))
    read_features_as<float>(array, graph);
  else
    read_features_as<double>(array, graph);
}

void read_labels(NpzArray& array, RawGraph& graph) {
  const auto& shape = array.header().shape;
  const bool fits = shape.size() == 1 || (shape.size() == 2 && shape[1] > 0 && shape[1] <= kMaxClasses);
  if (!fits || shape[0] != graph.num_nodes)
    fail_at_shape(array, "(" + std::to_string(graph.num_nodes) + ", 1), or more columns for several labels");
  if (shape.size() == 2 && shape[1] > 1) return read_flags(array, graph);
  graph.labels.reserve(graph.num_nodes);
  for_each_label(array, [&](double value, std::uint64_t) { return label_from(value, graph.labels.emplace_back()); });
  graph.num_classes = *std::ranges::max_element(graph.labels) + 1;
}

void read_targets(NpzArray& array, const std::vector<std::string>& columns, RawGraph& graph) {
  const NpyHeader& header = array.header();
  const std::uint64_t num_nodes = graph.num_nodes, width = header.shape.size() == 2 ? header.shape[1] : 1;
  if (header.shape.empty() || header.shape.size() > 2 || header.shape[0] != num_nodes || width == 0 ||
      width > kMaxClasses)
    fail_at_shape(array, "(" + std::to_string(num_nodes) + ",), or (" + std::to_string(num_nodes) + ", targets)");
  const std::vector<std::size_t> chosen = target_columns(array.name(), columns, width);
  graph.memory.check(num_nodes * chosen.size() * sizeof(float), array.name());
  graph.task = Task::kRegression;
  graph.num_classes = static_cast<int>(chosen.size());
  graph.targets.resize(num_nodes * chosen.size());
  for_each_block<double>(array, "targets", [&](std::span<const double> values, std::uint64_t position) {
    for (const double value : values) {
      const std::uint64_t node = header.is_fortran_order ? position % num_nodes : position / width;
      const std::uint64_t column = header.is_fortran_order ? position / num_nodes : position % width;
      if (std::fabs(value) > double{std::numeric_limits<float>::max()})
        fail_at_item(array.name(), position, to_text(value), "a target is finite, and in the range of a float");
      for (std::size_t t = 0; t < chosen.size(); ++t)
        if (chosen[t] == column) graph.targets[node * chosen.size() + t] = static_cast<float>(value);
      ++position;
    }
  });
}

}  // namespace salient
