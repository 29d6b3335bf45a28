// prepare/importers/node_table.cpp - see node_table.h.
#include "prepare/importers/node_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/formats/table_file.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIdNames[] = {"id", "node", "node_id", "nodeid", "name", "paper_id", "user_id", "item_id"};
constexpr std::string_view kLabelNames[] = {"label", "labels", "class", "node_label"};
constexpr std::string_view kUnsureLabelNames[] = {"classes", "y", "target", "category", "community"};  // y: or a place

/// What R, pandas, databases and people write where a value is missing.
constexpr std::string_view kMissing[] = {"",     "nan",  "NaN",  "NA",   "<NA>", "N/A", "n/a",
                                         "#N/A", "null", "NULL", "None", "\\N",  "?"};

/// A table whose columns are known.
struct NodeTable {
  TableFile file;
  Separator separator = Separator::kComma;
  std::size_t num_columns = 0;
  std::optional<std::size_t> id{}, label{};
  std::vector<std::string> names{};  ///< [num_columns] of the header; empty without one
  bool begins_with_words = false;    ///< the first line might be a header, and is a row
  bool guesses_header = false;       ///< the first line might be a row, and is a header

  void require_width(std::span<const std::string_view> fields, std::uint64_t number, std::string_view line) const {
    if (fields.size() != num_columns)
      fail_at_line(file.path(), number, line,
                   std::to_string(fields.size()) + " columns, the first line has " + std::to_string(num_columns));
  }
};

std::optional<std::size_t> usual_column(const std::vector<std::string>& header,
                                        std::span<const std::string_view> names) {
  for (std::size_t column = 0; column < header.size(); ++column) {
    std::string name = header[column];
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (std::ranges::find(names, name) != names.end()) return column;
  }
  return std::nullopt;
}

std::optional<double> number_of(std::string_view text) {
  double value = 0;
  if (!parse_number(text, value)) return std::nullopt;
  return value;
}

bool is_number(std::string_view text) { return number_of(text).has_value(); }

bool is_missing(std::string_view text) { return std::ranges::find(kMissing, text) != std::end(kMissing); }

/// @param column  "" = not chosen    @param[out] is_named  by the header
std::optional<std::size_t> chosen_column(const std::string& column, const std::vector<std::string>& first,
                                         const TableFile& file, bool& is_named) {
  if (column.empty()) return std::nullopt;
  const std::size_t found = column == "-1" ? first.size() - 1 : column_named(column, first, file, Topic::kLabelColumn);
  std::size_t number = 0;
  is_named |= column != "-1" && !parse_number(std::string_view(column), number);
  if (found >= first.size())
    fail(ErrorKind::kBadData,
         file.path().string() + ": has " + std::to_string(first.size()) + " columns, none is " + in_quotes(column));
  return found;
}

enum class Wanted { kLabels, kFeatures, kLabelledFeatures, kIds };

/// Words above a number, unless a field of the first line is a value: a number, or said to be missing.
bool are_words_above_numbers(const std::vector<std::string>& first, const std::vector<std::string>& second,
                             std::optional<std::size_t> id) {
  const auto is_value = [](const std::string& field) {
    return is_number(field) || (is_missing(field) && !field.empty());
  };
  if (std::ranges::any_of(first, is_value)) return false;
  for (std::size_t column = 0; column < std::min(first.size(), second.size()); ++column)
    if (id != column && !first[column].empty() && is_number(second[column])) return true;
  return false;
}

/// Sets id and label. @return  whether a name says so, and the first line is a header
bool choose_columns(NodeTable& table, const std::vector<std::string>& first, const NodeTableOptions& options,
                    Wanted wanted) {
  bool is_named = false;
  table.id = chosen_column(options.id_column, first, table.file, is_named);
  const bool wants_label = wanted == Wanted::kLabels || wanted == Wanted::kLabelledFeatures;
  if (wants_label) table.label = chosen_column(options.label_column, first, table.file, is_named);
  const auto take_usual = [&](std::optional<std::size_t>& column, std::span<const std::string_view> names) {
    if (column) return;
    column = usual_column(first, names);
    is_named |= column.has_value();
  };
  take_usual(table.id, kIdNames);
  if (wants_label || wanted == Wanted::kFeatures) take_usual(table.label, kLabelNames);
  if (wants_label && !is_number(first[table.id.value_or(0)]))  // "1,y" is a node and its label
    take_usual(table.label, kUnsureLabelNames);
  const bool is_plain_list = first.size() == 1 && wanted == Wanted::kLabels;
  if (is_plain_list) table.id.reset();
  if (!table.id && !is_plain_list) table.id = table.label == std::optional<std::size_t>(0) ? 1 : 0;
  if (wants_label && !table.label) {
    if (first.size() > 2)
      fail(ErrorKind::kBadData,
           table.file.path().string() + ": which of the " + std::to_string(first.size()) +
               " columns is the label is not clear",
           Topic::kLabelColumn);
    table.label = is_plain_list || table.id == std::optional<std::size_t>(1) ? 0 : 1;
  }
  return is_named;
}

/// Which column is which, from the first lines.
NodeTable open_node_table(const fs::path& path, const NodeTableOptions& options, Wanted wanted) {
  NodeTable table{.file = TableFile(path)};
  if (table.file.matrix())
    fail(ErrorKind::kBadData, path.string() + ": a Matrix Market file, not a table with a line for each node");
  const std::vector<TableRow>& head = table.file.head();
  if (head.empty()) fail(ErrorKind::kBadData, path.string() + ": has no lines");
  table.separator = separator_of(head.front().text);
  const std::vector<std::string> first = table.file.fields_of(head.front(), table.separator);
  table.num_columns = first.size();
  const bool is_named = choose_columns(table, first, options, wanted);
  table.guesses_header = !is_named && head.size() == 2 &&
                         are_words_above_numbers(first, table.file.fields_of(head.back(), table.separator), table.id);
  const bool has_header = is_named || table.guesses_header;
  table.begins_with_words = !has_header && std::ranges::none_of(first, is_number);
  if (has_header) table.file.take_header();
  if (has_header) table.names = first;
  return table;
}

void say_if_header(const NodeTable& table) {
  if (table.guesses_header) log_info(table.file.path().string() + ": the first line is a header, no node");
}

/// Rows of a block.
struct ParsedRows {
  NameTable ids{}, labels{};
  std::vector<float> values{};
  std::vector<std::uint64_t> lines{};
};

void take_ids(const fs::path& path, const ParsedRows& parsed, const TakeId& take_id) {
  for (std::size_t row = 0; row < parsed.ids.size(); ++row)
    if (const char* rule = take_id(parsed.ids[row])) fail_at_line(path, parsed.lines[row], parsed.ids[row], rule);
}

/// Missing, or -1, also among words.
bool is_no_label(std::string_view text) {
  const std::optional<double> number = number_of(text);
  return is_missing(text) || (number && (std::isnan(*number) || *number == -1));
}

/// The class of each name, if all names are numbers.
std::optional<std::vector<std::int32_t>> numeric_classes(const NameTable& names, const std::string& file) {
  std::vector<std::int32_t> classes(names.size(), -1);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!is_no_label(names[i]) && !number_of(names[i])) return std::nullopt;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!is_no_label(names[i]) && !label_of(*number_of(names[i]), classes[i]))
      fail(ErrorKind::kBadData, file + ": label " + in_quotes(names[i]) + ", labels are whole numbers from 0 to " +
                                    std::to_string(kMaxClasses - 1) + ", -1 or NaN for none, or words");
  return classes;
}

/// The class of each name by its rank among them, and the names in this order.
std::vector<std::int32_t> ranked_classes(const NameTable& names, std::vector<std::string>& sorted) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!is_no_label(names[i])) sorted.emplace_back(names[i]);
  std::ranges::sort(sorted);
  std::vector<std::int32_t> classes(names.size(), -1);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (!is_no_label(names[i]))
      classes[i] = static_cast<std::int32_t>(std::ranges::lower_bound(sorted, names[i]) - sorted.begin());
  return classes;
}

/// Says which words are no label, and which word makes classes of words of labels that look like numbers.
void say_what_labels_are(const TableLabels& labels, const std::string& file) {
  const NameTable& names = labels.names.names();
  std::optional<std::size_t> number, word;  // the first label that is one
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (is_no_label(names[i])) {
      if (!names[i].empty() && !is_number(names[i])) log_info(file + ": " + in_quotes(names[i]) + " is no label");
      continue;
    }
    std::optional<std::size_t>& first = is_number(names[i]) ? number : word;
    if (!first) first = i;
  }
  if (number && word)
    log_info(line_name(file, labels.first_lines[*word]) + ": labels are words, as " + in_quotes(names[*word]) +
             " is no number");
}

}  // namespace

bool has_ids(const fs::path& path, const NodeTableOptions& options) {
  return open_node_table(path, options, Wanted::kLabels).id.has_value();
}

TableLabels read_label_table(const fs::path& path, const NodeTableOptions& options, const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, Wanted::kLabels);
  say_if_header(table);
  if (table.begins_with_words) log_info(path.string() + ": the first line is a node, no header");
  TableLabels labels{.names = NameMap(options.memory)};
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedRows& parsed) {
    table.require_width(fields, number, line);
    parsed.lines.push_back(number);
    if (table.id) parsed.ids.append(fields[*table.id]);
    parsed.labels.append(fields[*table.label]);
  };
  table.file.for_each_row<ParsedRows>(
      table.separator, options.num_threads, "reading labels", parse, [&](const ParsedRows& parsed) {
        take_ids(path, parsed, take_id);
        for (std::size_t row = 0; row < parsed.labels.size(); ++row) {
          labels.codes.push_back(labels.names.add(parsed.labels[row]));
          if (labels.names.size() > labels.first_lines.size()) labels.first_lines.push_back(parsed.lines[row]);
          if (labels.names.size() > static_cast<std::size_t>(kMaxClasses))
            fail_at_line(path, parsed.lines[row], parsed.labels[row],
                         "more than " + std::to_string(kMaxClasses) + " different labels");
        }
      });
  return labels;
}

RawFeatures read_feature_table(const fs::path& path, const NodeTableOptions& options, FeatureType type, bool labels_too,
                               const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, labels_too ? Wanted::kLabelledFeatures : Wanted::kFeatures);
  if (!labels_too) say_if_header(table);  // who reads the labels does
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < table.num_columns; ++column)
    if (table.id != column && table.label != column) columns.push_back(column);
  if (table.label && !labels_too)
    log_info(path.string() + ": column " + std::to_string(*table.label) + " is a label by its name, and no feature");
  if (columns.empty()) fail(ErrorKind::kBadData, path.string() + ": has no column of features beside the id");
  RawFeatures features{.type = type, .dim = static_cast<int>(columns.size())};
  if (!table.names.empty())
    for (const std::size_t column : columns) features.column_names.push_back(table.names[column]);
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedRows& parsed) {
    table.require_width(fields, number, line);
    parsed.lines.push_back(number);
    parsed.ids.append(fields[*table.id]);
    for (const std::size_t column : columns) {
      double value = 0;  // a float's own parser refuses 1e-50, which is 0
      if (!parse_number(fields[column], value))
        fail_at_line(path, number, fields[column], "column " + std::to_string(column) + " is no number");
      if (std::isfinite(value) && std::fabs(value) > double{std::numeric_limits<float>::max()})
        fail_at_line(path, number, fields[column],
                     "column " + std::to_string(column) + " is beyond the range of a float");
      parsed.values.push_back(static_cast<float>(value));
    }
  };
  table.file.for_each_row<ParsedRows>(
      table.separator, options.num_threads, "reading features", parse, [&](const ParsedRows& parsed) {
        take_ids(path, parsed, take_id);
        const std::size_t wanted = features.rows.size() + parsed.values.size() * size_of(type);
        if (wanted > features.rows.capacity()) {
          options.memory.check(std::max(2 * features.rows.capacity(), wanted), path.string());
          features.rows.reserve(std::max(2 * features.rows.capacity(), wanted));
        }
        append_feature_rows(features, parsed.values.data(), parsed.values.size(), path.string());
      });
  return features;
}

void read_id_list(const fs::path& path, const NodeTableOptions& options, const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, Wanted::kIds);
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedRows& parsed) {
    table.require_width(fields, number, line);
    parsed.lines.push_back(number);
    parsed.ids.append(fields[*table.id]);
  };
  table.file.for_each_row<ParsedRows>(table.separator, options.num_threads, "reading ids", parse,
                                      [&](const ParsedRows& parsed) { take_ids(path, parsed, take_id); });
}

void set_labels(const TableLabels& labels, const std::vector<NodeId>& node_of_row, const std::string& file,
                RawGraph& graph) {
  const NameTable& names = labels.names.names();
  const std::optional<std::vector<std::int32_t>> numbers = numeric_classes(names, file);
  say_what_labels_are(labels, file);
  const std::vector<std::int32_t> classes = numbers ? *numbers : ranked_classes(names, graph.class_names);
  graph.labels.assign(graph.num_nodes, -1);
  for (std::size_t row = 0; row < labels.codes.size(); ++row)
    graph.labels[node_of_row.empty() ? row : node_of_row[row]] = classes[labels.codes[row]];
  graph.num_classes = classes.empty() ? 0 : std::max(0, std::ranges::max(classes) + 1);
}

}  // namespace salient
