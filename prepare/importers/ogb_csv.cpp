// prepare/importers/ogb_csv.cpp - OGB's CSV layout: one file per table, gzip, no headers
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/files/value_rules.h"
#include "prepare/formats/line_blocks.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/ogb_tables.h"

namespace salient {

namespace {

namespace fs = std::filesystem;

/// Calls use(line, number) for every line of a block.
template <class Use>
void for_each_line(const LineBlock& block, Use use) {
  std::string_view rest = block.text;
  std::uint64_t number = block.first_line;
  for (std::string_view line; take_line(rest, line); ++number) use(line, number);
}

/// The number in a file that holds nothing else.
std::uint64_t read_count(const fs::path& path) {
  LineReader reader(path);
  std::string_view line;
  if (!reader.next(line)) fail(ErrorKind::kBadData, path.string() + ": is empty, one count is expected");
  std::uint64_t count = 0;
  if (!parse_number(line, count)) fail_at_line(path, 1, line, "is not a count");
  if (reader.next(line))
    fail_at_line(path, 2, line, "one count is expected, this is a second line, as of a set of several graphs");
  return count;
}

/// How many lines a table must have, and who says so.
struct Promise {
  std::uint64_t num_lines = 0;
  fs::path said_by{};

  /// Called while reading too, so that a small file which inflates without end is stopped early.
  void check_not_above(std::uint64_t found, const fs::path& path) const {
    if (found > num_lines)
      fail(ErrorKind::kBadData, path.string() + ": has more than the " + std::to_string(num_lines) + " lines that " +
                                    said_by.filename().string() + " promises");
  }
  void check(std::uint64_t found, const fs::path& path) const {
    check_not_above(found, path);
    if (found < num_lines)
      fail(ErrorKind::kBadData, path.string() + ": has " + std::to_string(found) + " of the " +
                                    std::to_string(num_lines) + " lines that " + said_by.filename().string() +
                                    " promises");
  }
};

Promise read_promise(const fs::path& path) { return {read_count(path), path}; }

Promise read_num_nodes(const OgbLayout& layout) {
  Promise promise = read_promise(layout.raw("num-node-list.csv.gz"));
  if (!is_node_count(promise.num_lines))
    fail(ErrorKind::kBadData,
         promise.said_by.string() + ": a graph has 1 to 2^32 - 2 nodes, not " + std::to_string(promise.num_lines));
  return promise;
}

struct Edges {
  std::vector<NodeId> sources{}, destinations{};
};

Edges parse_edges(const LineBlock& block, const fs::path& path, std::uint64_t num_nodes) {
  Edges edges;
  for_each_line(block, [&](std::string_view line, std::uint64_t number) {
    const std::size_t comma = line.find(',');
    NodeId source = 0, destination = 0;
    if (comma == std::string_view::npos || !parse_number(line.substr(0, comma), source) ||
        !parse_number(line.substr(comma + 1), destination))
      fail_at_line(path, number, line, "two node ids with a comma between them are expected");
    if (source >= num_nodes || destination >= num_nodes)
      fail_at_line(path, number, line, "the graph has nodes 0 to " + std::to_string(num_nodes - 1));
    edges.sources.push_back(source);
    edges.destinations.push_back(destination);
  });
  return edges;
}

void read_edges(const OgbLayout& layout, int num_threads, RawGraph& graph) {
  const Promise promise = read_promise(layout.raw("num-edge-list.csv.gz"));
  LineReader reader(layout.raw("edge.csv.gz"));
  for_each_line_block<Edges>(
      reader, num_threads, "edges",
      [&](const LineBlock& block) { return parse_edges(block, reader.path(), graph.num_nodes); },
      [&](Edges edges) {
        graph.sources.insert(graph.sources.end(), edges.sources.begin(), edges.sources.end());
        graph.destinations.insert(graph.destinations.end(), edges.destinations.begin(), edges.destinations.end());
        promise.check_not_above(graph.sources.size(), reader.path());
      });
  promise.check(graph.sources.size(), reader.path());
}

std::size_t num_columns_of(std::string_view line) {
  return static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
}

void append_row(std::string_view line, const fs::path& path, std::uint64_t number, std::size_t num_columns,
                std::vector<double>& values) {
  FieldSplitter splitter(line, ',');
  std::size_t column = 0;
  for (std::string_view field; splitter.next(field); ++column) {
    double value = 0;  // as OGB reads: text to double, double to float
    if (!parse_number(field, value) || std::fabs(value) > double{std::numeric_limits<float>::max()})
      fail_at_line(path, number, field, "column " + std::to_string(column + 1) + " is not a number of float's range");
    values.push_back(value);
  }
  if (column != num_columns)
    fail_at_line(path, number, line,
                 "has " + std::to_string(column) + " columns, the first line has " + std::to_string(num_columns));
}

/// Rows of numbers in the order of the file, block after block: use(values, number of columns).
template <class Use>
void read_rows(const fs::path& path, const Promise& promise, int num_threads, Use use) {
  LineReader reader(path);
  std::string_view first;
  if (!reader.next(first)) fail(ErrorKind::kBadData, path.string() + ": is empty");
  const std::size_t num_columns = num_columns_of(first);
  std::uint64_t num_values = 0;
  const auto take = [&](const std::vector<double>& values) {
    promise.check_not_above((num_values += values.size()) / num_columns, path);
    use(values, num_columns);
  };
  std::vector<double> first_row;
  append_row(first, path, 1, num_columns, first_row);
  take(first_row);
  for_each_line_block<std::vector<double>>(
      reader, num_threads, "features",
      [&](const LineBlock& block) {
        std::vector<double> values;
        for_each_line(block, [&](std::string_view line, std::uint64_t number) {
          append_row(line, path, number, num_columns, values);
        });
        return values;
      },
      take);
  promise.check(reader.line_number(), path);
}

void read_node_features(const OgbLayout& layout, const Promise& promise, int num_threads, RawGraph& graph) {
  const fs::path path = layout.features();
  read_rows(path, promise, num_threads, [&](const std::vector<double>& values, std::size_t num_columns) {
    graph.features.dim = static_cast<int>(num_columns);
    append_feature_rows(graph.features, values.data(), values.size(), path.string());
  });
}

/// A node's features are the mean of those of its edges, as in OGB's own examples for ogbn-proteins; 0 without edges.
/// The edges are read.
void read_edge_features(const OgbLayout& layout, int num_threads, RawGraph& graph) {
  const fs::path path = layout.features();
  std::vector<double> sums;
  std::vector<std::uint32_t> num_edges_of(graph.num_nodes);
  std::size_t edge = 0, dim = 0;
  const auto add = [&](NodeId node, const double* values) {
    for (std::size_t c = 0; c < dim; ++c) sums[node * dim + c] += static_cast<float>(values[c]);
    ++num_edges_of[node];
  };
  const Promise promise = read_promise(layout.raw("num-edge-list.csv.gz"));
  read_rows(path, promise, num_threads, [&](const std::vector<double>& values, std::size_t num_columns) {
    dim = num_columns;
    sums.resize(graph.num_nodes * dim);
    for (const double* row = values.data(); row < values.data() + values.size(); row += dim, ++edge) {
      const auto bad = std::find_if(row, row + dim, [](double value) { return !std::isfinite(value); });
      if (bad != row + dim)
        fail(ErrorKind::kBadData, path.string() + ": line " + std::to_string(edge + 1) + ": column " +
                                      std::to_string(bad - row + 1) + " is " + std::to_string(*bad) +
                                      "; features are finite");
      const NodeId source = graph.sources[edge], destination = graph.destinations[edge];
      add(destination, row);
      if (graph.symmetrise && source != destination) add(source, row);
    }
  });
  graph.features.dim = static_cast<int>(dim);
  std::vector<float> mean(dim);
  for (std::size_t v = 0; v < graph.num_nodes; ++v) {
    for (std::size_t c = 0; c < dim; ++c)
      mean[c] = static_cast<float>(sums[v * dim + c] / std::max<std::uint32_t>(1, num_edges_of[v]));
    append_feature_rows(graph.features, mean.data(), dim, path.string());
  }
}

/// One line: 0, 1, and nan or nothing for not known.
void append_flags(const LineReader& reader, std::string_view line, RawGraph& graph) {
  FieldSplitter splitter(line, ',');
  int column = 0;
  for (std::string_view field; splitter.next(field); ++column) {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::int8_t flag = -1;
    if ((!field.empty() && !parse_number(field, value)) || flag_from(value, flag))
      fail_at_line(reader.path(), reader.line_number(), field,
                   "column " + std::to_string(column + 1) + " is not 0 or 1, nor nan or empty for not known");
    graph.multi_labels.push_back(flag);
  }
  if (column != graph.num_classes)
    fail_at_line(reader.path(), reader.line_number(), line,
                 "has " + std::to_string(column) + " columns, the first line has " + std::to_string(graph.num_classes));
}

void read_flags(LineReader& reader, std::string_view first, const Promise& promise, RawGraph& graph) {
  const std::size_t num_columns = num_columns_of(first);
  if (num_columns > kMaxClasses)
    fail_at_line(reader.path(), 1, first, "has " + std::to_string(num_columns) + " columns of labels");
  graph.task = Task::kMultiLabel;
  graph.num_classes = static_cast<int>(num_columns);
  append_flags(reader, first, graph);
  for (std::string_view line; reader.next(line);) {
    append_flags(reader, line, graph);
    promise.check_not_above(reader.line_number(), reader.path());
  }
  promise.check(reader.line_number(), reader.path());
}

/// One column is the class, several are a label each.
void read_labels(const OgbLayout& layout, const Promise& promise, RawGraph& graph) {
  LineReader reader(layout.raw("node-label.csv.gz"));
  std::string_view line;
  bool is_line = reader.next(line);
  if (is_line && num_columns_of(line) > 1) return read_flags(reader, line, promise, graph);
  for (; is_line; is_line = reader.next(line)) {
    double value = 0;
    std::int32_t label = 0;
    if (!parse_number(line, value) || label_from(value, label))
      fail_at_line(reader.path(), reader.line_number(), line, "is not a class (0, 1, ..., or -1 or nan for none)");
    graph.labels.push_back(label);
    promise.check_not_above(graph.labels.size(), reader.path());
  }
  promise.check(graph.labels.size(), reader.path());
}

}  // namespace

OgbSize size_of_ogb_csv(const OgbLayout& layout) {
  OgbSize size{.num_nodes = read_num_nodes(layout).num_lines,
               .num_edges = read_promise(layout.raw("num-edge-list.csv.gz")).num_lines};
  LineReader labels(layout.raw("node-label.csv.gz"));
  if (std::string_view line; labels.next(line)) size.label_bytes = label_bytes_of(num_columns_of(line));
  LineReader features(layout.features());
  if (std::string_view line; features.next(line)) size.feature_dim = num_columns_of(line);
  return size;
}

void read_ogb_csv(const OgbLayout& layout, int num_threads, RawGraph& graph) {
  const Promise promise = read_num_nodes(layout);
  graph.num_nodes = promise.num_lines;
  read_labels(layout, promise, graph);
  if (layout.has_node_features) read_node_features(layout, promise, num_threads, graph);
  read_edges(layout, num_threads, graph);
  if (!layout.has_node_features) read_edge_features(layout, num_threads, graph);
}

}  // namespace salient
