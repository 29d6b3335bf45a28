// prepare/importers/node_table.cpp - see node_table.h.
#include "prepare/importers/node_table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/formats/table_file.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIdNames[] = {"id", "node", "node_id", "nodeid", "name", "paper_id", "user_id", "item_id"};
constexpr std::string_view kLabelNames[] = {"label", "labels", "class", "node_label"};
constexpr std::string_view kUnsureLabelNames[] = {"classes", "y", "target", "category", "community"};  // y: or a place

/// A table whose columns are known.
struct NodeTable {
  TableFile file;
  RowRules rows{};
  std::vector<std::string> header{};  ///< names of the columns, if the file has some
  std::optional<std::size_t> id{}, label{};
  bool begins_with_words = false;  ///< the first line might be a header, and is a row
  bool guesses_header = false;     ///< the first line might be a row, and is a header

  std::string name_of(std::size_t column) const {
    return header.empty() ? "column " + std::to_string(column) : "column " + in_quotes(header[column]);
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
  if (wanted == Wanted::kIds && first.size() == 1) {
    table.id = 0;
    return (first[0] == options.id_column && !is_number(first[0])) || usual_column(first, kIdNames);
  }
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

/// The name of an index that pandas wrote beside the columns: none, or "Unnamed: 0".
bool is_index(const std::vector<std::string>& header, std::size_t column) {
  return column < header.size() && ((column == 0 && header[0].empty()) || header[column].starts_with("Unnamed:"));
}

/// Refuses an id that may be none.
void check_id(const NodeTable& table, const std::vector<std::string>& first, const NodeTableOptions& options,
              Wanted wanted) {
  if (!table.id || !options.id_column.empty()) return;
  const TableRow row = table.header.empty() ? table.file.head().front() : TableRow{1, ""};
  const std::string file = table.file.path().string();
  if (is_index(table.header, *table.id))
    fail(ErrorKind::kBadData,
         file + ": the first column has no name, as an index that pandas writes; which column is the id is not clear",
         Topic::kLabelColumn);
  if (table.header.empty() && first.size() > 1 && first[*table.id].empty())
    fail_at_line(file, row.number, row.text,
                 "has no id; if it is a header, with an index in front, give its columns names that are no numbers");
  if (wanted == Wanted::kIds && first.size() > 1 && !usual_column(table.header, kIdNames))
    fail_at_line(
        file, row.number, row.text,
        std::to_string(first.size()) + " columns, and which one is the id is not clear; a list has an id a line",
        Topic::kLabelColumn);
}

/// Which column is which, from the first lines.
NodeTable open_node_table(const fs::path& path, const NodeTableOptions& options, Wanted wanted) {
  NodeTable table{.file = TableFile(path)};
  if (table.file.matrix())
    fail(ErrorKind::kBadData, path.string() + ": a Matrix Market file, not a table with a line for each node");
  const std::vector<TableRow>& head = table.file.head();
  if (head.empty()) fail(ErrorKind::kBadData, path.string() + ": has no lines");
  const Separator of_first = separator_of(head.front().text);
  const Separator separator = of_first != Separator::kBlanks ? of_first : separator_of(head.back().text);
  const std::vector<std::string> first = table.file.fields_of(head.front(), separator);
  const bool is_named = choose_columns(table, first, options, wanted);
  table.guesses_header = !is_named && head.size() > 1 &&
                         are_words_above_numbers(first, table.file.fields_of(head.back(), separator), table.id);
  if (is_named || table.guesses_header) {
    table.header = first;
    table.file.take_header();
  }
  table.begins_with_words = table.header.empty() && std::ranges::none_of(first, is_number);
  check_id(table, first, options, wanted);
  const bool may_begin_with_words = !options.ids_are_numbers || table.id != std::optional<std::size_t>(0);
  table.rows = {.separator = separator,
                .num_columns = first.size(),
                .comments = may_begin_with_words ? CommentRule::kInFront : CommentRule::kAnywhere,
                .lines_are_rows = !table.id,
                .num_threads = options.num_threads};
  return table;
}

/// Says how a table is read.
///
/// @param used  further columns than the id
void say_what_is_read(const NodeTable& table, const NodeTableOptions& options, std::vector<std::size_t> used) {
  if (table.guesses_header) log_info(table.file.path().string() + ": the first line is a header, no node");
  if (table.id) used.push_back(*table.id);
  if (!options.is_shared) say_unused(table.file, table.header, used, table.rows.num_columns);
  if (table.header.empty()) say_if_counted(table.file, table.rows.separator);
}

/// @throws Error{kBadData} for an id that is missing
void append_id(const NodeTable& table, std::span<const std::string_view> fields, std::uint64_t number,
               std::string_view line, NameTable& ids) {
  if (!table.id) return;
  const std::string_view id = fields[*table.id];
  if (const char* rule = broken_id_rule(id, line)) fail_at_line(table.file.path(), number, line, rule);
  ids.append(id);
}

/// Rows of a block.
struct ParsedRows {
  NameTable ids{}, labels{};
  std::vector<double> values{};
  std::vector<std::uint64_t> lines{};
};

/// Hands ids over, and says which is the first that is not written as a number is.
class IdTaker {
 public:
  IdTaker(const fs::path& path, const NodeTableOptions& options, const TakeId& take_id)
      : path_(path), are_numbers_(options.ids_are_numbers), take_id_(take_id) {}

  void take(const ParsedRows& parsed) {
    for (std::size_t row = 0; row < parsed.ids.size(); ++row) {
      const std::string_view id = parsed.ids[row];
      if (const char* rule = take_id_(id)) fail_at_line(path_, parsed.lines[row], id, rule);
      std::uint64_t number = 0;
      if (are_numbers_ && id_form(id, number) == IdForm::kUnusual && !std::exchange(is_said_, true))
        log_info(line_name(path_, parsed.lines[row]) + ": " + unusual_id_text(id));
    }
  }

 private:
  const fs::path& path_;
  const bool are_numbers_;
  const TakeId& take_id_;
  bool is_said_ = false;
};

}  // namespace

bool has_ids(const fs::path& path, const NodeTableOptions& options) {
  return open_node_table(path, options, Wanted::kLabels).id.has_value();
}

TableLabels read_label_table(const fs::path& path, const NodeTableOptions& options, const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, Wanted::kLabels);
  say_what_is_read(table, options, {*table.label});
  if (table.begins_with_words) log_info(path.string() + ": the first line is a node, no header");
  TableLabels labels{.names = NameMap(options.memory)};
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedRows& parsed) {
    parsed.lines.push_back(number);
    append_id(table, fields, number, line, parsed.ids);
    parsed.labels.append(fields[*table.label]);
  };
  IdTaker ids(path, options, take_id);
  table.rows.label = "reading labels";
  table.file.for_each_row<ParsedRows>(table.rows, parse, [&](const ParsedRows& parsed) {
    ids.take(parsed);
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
  std::vector<std::size_t> columns;
  for (std::size_t column = 0; column < table.rows.num_columns; ++column)
    if (table.id != column && table.label != column && !is_index(table.header, column)) columns.push_back(column);
  if (!labels_too) {  // else who reads the labels says it
    std::vector<std::size_t> used = columns;
    if (table.label) used.push_back(*table.label);
    say_what_is_read(table, options, used);
    if (table.label)
      log_info(path.string() + ": " + table.name_of(*table.label) + " is a label by its name, and no feature");
  }
  if (columns.empty()) fail(ErrorKind::kBadData, path.string() + ": has no column of features beside the id");
  RawFeatures features{.type = type, .dim = static_cast<int>(columns.size())};
  if (!table.header.empty())
    for (const std::size_t column : columns) features.column_names.push_back(table.header[column]);
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedRows& parsed) {
    parsed.lines.push_back(number);
    append_id(table, fields, number, line, parsed.ids);
    for (const std::size_t column : columns) {
      double value = 0;  // a float's own parser refuses 1e-50, which is 0
      if (!parse_number(fields[column], value))
        fail_at_line(path, number, fields[column],
                     "column " + std::to_string(column) + " is no number" + number_hint(fields[column]));
      if (std::isfinite(value) && std::fabs(value) > double{std::numeric_limits<float>::max()})
        fail_at_line(path, number, fields[column],
                     "column " + std::to_string(column) + " is beyond the range of a float");
      parsed.values.push_back(value);
    }
  };
  IdTaker ids(path, options, take_id);
  table.rows.label = "reading features";
  table.file.for_each_row<ParsedRows>(table.rows, parse, [&](const ParsedRows& parsed) {
    ids.take(parsed);
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
  say_what_is_read(table, options, {});
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedRows& parsed) {
    parsed.lines.push_back(number);
    append_id(table, fields, number, line, parsed.ids);
  };
  IdTaker ids(path, options, take_id);
  table.rows.label = "reading ids";
  table.file.for_each_row<ParsedRows>(table.rows, parse, [&](const ParsedRows& parsed) { ids.take(parsed); });
}

}  // namespace salient
