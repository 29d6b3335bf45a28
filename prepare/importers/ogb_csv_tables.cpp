// prepare/importers/ogb_csv_tables.cpp - see ogb_csv_tables.h.
#include "prepare/importers/ogb_csv_tables.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/files/value_rules.h"
#include "prepare/formats/line_blocks.h"
#include "prepare/formats/line_reader.h"
#include "prepare/formats/text_fields.h"
#include "prepare/importers/node_arrays.h"

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

[[noreturn]] void refuse_node(const fs::path& path, std::uint64_t number, std::string_view line, NodeId node,
                              const EndNodes& end) {
  fail_at_line(path, number, line,
               end.kind.empty() ? "the graph has nodes 0 to " + std::to_string(end.count - 1) : end.rule(node));
}

NodePairs parse_edges(const LineBlock& block, const fs::path& path, const std::array<EndNodes, 2>& ends) {
  NodePairs edges;
  for_each_line(block, [&](std::string_view line, std::uint64_t number) {
    const std::size_t comma = line.find(',');
    NodeId source = 0, destination = 0;
    if (comma == std::string_view::npos || !parse_number(line.substr(0, comma), source) ||
        !parse_number(line.substr(comma + 1), destination))
      fail_at_line(path, number, line, "two node ids with a comma between them are expected");
    if (source >= ends[0].count) refuse_node(path, number, line, source, ends[0]);
    if (destination >= ends[1].count) refuse_node(path, number, line, destination, ends[1]);
    edges.sources.push_back(source);
    edges.destinations.push_back(destination);
  });
  return edges;
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

/// Every field of every line from `first` on: take(column, value) gives null, or the rule that the field breaks. The
/// value of nothing is NaN, and there is none of what is no number.
template <class Take>
void read_columns(LineReader& reader, std::string_view first, const Promise& promise, Take take) {
  const std::size_t num_columns = num_columns_of(first);
  if (num_columns > kMaxClasses)
    fail_at_line(reader.path(), 1, first, "has " + std::to_string(num_columns) + " columns of labels");
  bool is_line = true;
  for (std::string_view line = first; is_line; is_line = reader.next(line)) {
    promise.check_not_above(reader.line_number(), reader.path());
    FieldSplitter splitter(line, ',');
    std::size_t column = 0;
    for (std::string_view field; splitter.next(field); ++column) {
      double value = std::numeric_limits<double>::quiet_NaN();
      const bool is_number = field.empty() || parse_number(field, value);
      const char* const rule =
          column < num_columns ? take(column, is_number ? std::optional(value) : std::nullopt) : nullptr;
      if (rule)
        fail_at_line(reader.path(), reader.line_number(), field, "column " + std::to_string(column + 1) + " " + rule,
                     kLabelTopic);
    }
    if (column != num_columns)
      fail_at_line(reader.path(), reader.line_number(), line,
                   "has " + std::to_string(column) + " columns, the first line has " + std::to_string(num_columns));
  }
  promise.check(reader.line_number(), reader.path());
}

void read_flags(LineReader& reader, std::string_view first, const Promise& promise, RawGraph& graph) {
  graph.task = Task::kMultiLabel;
  graph.num_classes = static_cast<int>(num_columns_of(first));
  read_columns(reader, first, promise, [&](std::size_t, std::optional<double> value) {
    const bool is_flag = value && !flag_from(*value, graph.multi_labels.emplace_back());
    return is_flag ? nullptr : "is not 0 or 1, nor nan or empty for not known";
  });
}

/// The chosen columns are values to be predicted.
void read_targets(LineReader& reader, std::string_view first, const Promise& promise, const OgbOptions& options,
                  RawGraph& graph) {
  const std::vector<std::size_t> chosen =
      target_columns(reader.path().string(), options.targets, num_columns_of(first));
  graph.task = Task::kRegression;
  graph.num_classes = static_cast<int>(chosen.size());
  graph.targets.assign(promise.num_lines * chosen.size(), 0);
  read_columns(reader, first, promise, [&](std::size_t column, std::optional<double> value) -> const char* {
    if (!value) return "is no number to predict";
    if (std::fabs(*value) > double{std::numeric_limits<float>::max()}) return "is beyond the range of a float";
    for (std::size_t t = 0; t < chosen.size(); ++t)
      if (chosen[t] == column)
        graph.targets[(reader.line_number() - 1) * chosen.size() + t] = static_cast<float>(*value);
    return nullptr;
  });
}

}  // namespace

void Promise::check_not_above(std::uint64_t found, const fs::path& path) const {
  if (found > num_lines)
    fail(ErrorKind::kBadData, path.string() + ": has more than the " + std::to_string(num_lines) + " lines that " +
                                  said_by.filename().string() + " promises");
}

void Promise::check(std::uint64_t found, const fs::path& path) const {
  check_not_above(found, path);
  if (found < num_lines)
    fail(ErrorKind::kBadData, path.string() + ": has " + std::to_string(found) + " of the " +
                                  std::to_string(num_lines) + " lines that " + said_by.filename().string() +
                                  " promises");
}

Promise read_promise(const fs::path& path) { return {read_count(path), path}; }

std::size_t num_columns_of(std::string_view line) {
  return static_cast<std::size_t>(std::count(line.begin(), line.end(), ',')) + 1;
}

NodePairs read_csv_edges(const fs::path& path, const Promise& promise, const std::array<EndNodes, 2>& ends,
                         int num_threads) {
  NodePairs all;
  LineReader reader(path);
  for_each_line_block<NodePairs>(
      reader, num_threads, "edges", [&](const LineBlock& block) { return parse_edges(block, path, ends); },
      [&](NodePairs edges) {
        all.sources.insert(all.sources.end(), edges.sources.begin(), edges.sources.end());
        all.destinations.insert(all.destinations.end(), edges.destinations.begin(), edges.destinations.end());
        promise.check_not_above(all.sources.size(), path);
      });
  promise.check(all.sources.size(), path);
  return all;
}

void read_csv_rows(const fs::path& path, const Promise& promise, int num_threads,
                   const std::function<void(const std::vector<double>&, std::size_t)>& use) {
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

void read_csv_features(const fs::path& path, const Promise& promise, int num_threads, RawFeatures& features) {
  read_csv_rows(path, promise, num_threads, [&](const std::vector<double>& values, std::size_t num_columns) {
    features.dim = static_cast<int>(num_columns);
    append_feature_rows(features, values.data(), values.size(), path.string());
  });
}

void read_csv_labels(const fs::path& path, const Promise& promise, const OgbOptions& options, RawGraph& graph) {
  LineReader reader(path);
  std::string_view line;
  bool is_line = reader.next(line);
  if (is_line && !options.targets.empty()) return read_targets(reader, line, promise, options, graph);
  if (is_line && num_columns_of(line) > 1) return read_flags(reader, line, promise, graph);
  for (; is_line; is_line = reader.next(line)) {
    double value = 0;
    std::int32_t label = 0;
    if (!parse_number(line, value) || label_from(value, label))
      fail_at_line(reader.path(), reader.line_number(), line, "is not a class (0, 1, ..., or -1 or nan for none)",
                   kLabelTopic);
    graph.labels.push_back(label);
    promise.check_not_above(graph.labels.size(), reader.path());
  }
  promise.check(graph.labels.size(), reader.path());
}

}  // namespace salient
