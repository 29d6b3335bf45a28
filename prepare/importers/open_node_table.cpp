// prepare/importers/open_node_table.cpp - see open_node_table.h.
#include "prepare/importers/open_node_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "core/lower_case.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIdNames[] = {"id", "node", "node_id", "nodeid", "name", "paper_id", "user_id", "item_id"};
constexpr std::string_view kLabelNames[] = {"label", "labels", "class", "node_label"};
constexpr std::string_view kUnsureLabelNames[] = {"classes", "y", "target", "category", "community"};  // y: or a place

std::optional<std::size_t> usual_column(const std::vector<std::string>& header,
                                        std::span<const std::string_view> names) {
  for (std::size_t column = 0; column < header.size(); ++column) {
    const std::string name = lower(header[column]);
    if (std::ranges::find(names, name) != names.end()) return column;
  }
  return std::nullopt;
}

/// @param column  "" = not chosen    @param[out] is_named  by the header
std::optional<std::size_t> chosen_column(const std::string& column, const std::vector<std::string>& first,
                                         const TableFile& file, bool& is_named, Topic topic = Topic::kLabelColumn) {
  if (column.empty()) return std::nullopt;
  const std::size_t found = column == "-1" ? first.size() - 1 : column_named(column, first, file, topic);
  std::size_t number = 0;
  is_named |= column != "-1" && !parse_number(std::string_view(column), number);
  if (found >= first.size())
    fail(ErrorKind::kBadData,
         file.path().string() + ": has " + std::to_string(first.size()) + " columns, none is " + in_quotes(column));
  return found;
}

bool is_target(const NodeTable& table, std::size_t column) {
  return std::ranges::find(table.targets, column) != table.targets.end();
}

/// Sets targets. @return  whether the header has one of them
bool choose_targets(NodeTable& table, const std::vector<std::string>& first, const NodeTableOptions& options) {
  bool is_named = false;
  for (const std::string& target : options.targets) {
    const std::optional<std::size_t> place = chosen_column(target, first, table.file, is_named);
    if (!place || std::ranges::find(table.targets, *place) != table.targets.end())
      fail(ErrorKind::kBadData,
           table.file.path().string() + ": " + in_quotes(target) + " is no column, or a target twice");
    table.targets.push_back(*place);
  }
  return is_named;
}

/// Sets id, and label or targets. @return  whether a name says so, and the first line is a header
bool choose_columns(NodeTable& table, const std::vector<std::string>& first, const NodeTableOptions& options,
                    Wanted wanted) {
  bool is_named = false;
  if (wanted == Wanted::kIds && first.size() == 1) {
    table.id = 0;
    return (first[0] == options.id_column && !is_number(first[0])) || usual_column(first, kIdNames);
  }
  table.id = chosen_column(options.id_column, first, table.file, is_named, Topic::kLabelColumn);
  table.time = chosen_column(options.time_column, first, table.file, is_named, Topic::kTableColumn);
  const bool wants_any = wanted == Wanted::kLabels || wanted == Wanted::kLabelledFeatures;
  if (wants_any) is_named |= choose_targets(table, first, options);
  const bool wants_label = wants_any && options.targets.empty();
  if (wants_label) table.label = chosen_column(options.label_column, first, table.file, is_named);
  const auto take_usual = [&](std::optional<std::size_t>& column, std::span<const std::string_view> names) {
    if (column) return;
    column = usual_column(first, names);
    is_named |= column.has_value();
  };
  take_usual(table.id, kIdNames);
  if (wants_label || (wanted == Wanted::kFeatures && options.targets.empty())) take_usual(table.label, kLabelNames);
  if (wants_label && !is_number(first[table.id.value_or(0)]))  // "1,y" is a node and its label
    take_usual(table.label, kUnsureLabelNames);
  const bool is_plain_list = first.size() == 1 && wanted == Wanted::kLabels;
  if (is_plain_list) table.id.reset();
  const auto first_but = [](std::optional<std::size_t> a, std::optional<std::size_t> b) {
    std::size_t column = 0;
    while (column == a || column == b) ++column;
    return column;
  };
  if (!table.id && !is_plain_list) table.id = first_but(table.label, table.time);
  const auto is_other = [&](std::size_t column) { return is_target(table, column) || column == table.time; };
  while (table.id && wanted != Wanted::kIds && options.id_column.empty() && is_other(*table.id)) ++*table.id;
  if (table.id && (*table.id >= first.size() || is_target(table, *table.id)))
    fail(ErrorKind::kBadData, table.file.path().string() + ": has no column for the id beside the targets",
         Topic::kLabelColumn);
  if (wants_label && !table.label) {
    if (table.time ? first.size() != 3 : first.size() > 2)
      fail(ErrorKind::kBadData,
           table.file.path().string() + ": which of the " + std::to_string(first.size()) +
               " columns is the label is not clear",
           Topic::kLabelColumn);
    table.label = is_plain_list ? 0 : first_but(table.id, table.time);
  }
  return is_named;
}

/// Refuses an id that may be none.
void check_id(const NodeTable& table, const std::vector<std::string>& first, const NodeTableOptions& options,
              Wanted wanted) {
  if (!table.id || !options.id_column.empty()) return;
  const TableRow row = table.header.empty() ? table.file.head().front() : TableRow{1, ""};
  const std::string file = table.file.path().string();
  if (table.is_index(*table.id))
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

/// Whether a first line that no name makes a header is one, by what is below it and by ids that are known.
bool is_header(const NodeTable& table, const std::vector<std::string>& first, const NodeTableOptions& options) {
  if (table.sample.empty()) return false;
  if (are_words_above_values(first, table.sample, table.id)) return true;
  if (std::ranges::any_of(first, is_number)) return false;
  if (table.id && options.is_node && !options.is_node(first[*table.id])) {
    const std::string usual = usual_form(table.sample, *table.id);
    if (!usual.empty() && usual != form_of(first[*table.id])) return true;
  }
  switch (words_above_words(first, table.sample, table.id)) {
    case WordsAbove::kRow: return false;
    case WordsAbove::kHeader: return true;
    case WordsAbove::kUnclear: break;
  }
  const TableRow& row = table.file.head().front();
  fail_at_line(table.file.path(), row.number, row.text, "may be a header, or a node", Topic::kHeader);
}

}  // namespace

std::string NodeTable::name_of(std::size_t column) const {
  return header.empty() ? "column " + std::to_string(column) : "column " + in_quotes(header[column]);
}

std::string NodeTable::plain_name_of(std::size_t column) const {
  return header.empty() ? "column " + std::to_string(column) : header[column];
}

bool NodeTable::is_index(std::size_t column) const {
  if (column >= header.size()) return false;
  const std::string& name = header[column];
  if ((column == 0 && name.empty()) || name.starts_with("Unnamed:") || name.starts_with("__index_level_")) return true;
  if (column == id || (name != "index" && !name.starts_with("level_"))) return false;
  for (std::size_t row = 0; row < sample.size(); ++row)
    if (sample[row][column] != std::to_string(row)) return false;
  return sample.size() > 1;
}

NodeTable open_node_table(const fs::path& path, const NodeTableOptions& options, Wanted wanted) {
  constexpr std::size_t kMaxSample = 1000;
  NodeTable table{.file = TableFile(path)};
  if (table.file.matrix())
    fail(ErrorKind::kBadData, path.string() + ": a Matrix Market file, not a table with a line for each node");
  const std::vector<TableRow>& head = table.file.head();
  if (head.empty()) fail(ErrorKind::kBadData, path.string() + ": has no lines");
  const Separator of_first = separator_of(head.front().text);
  const Separator separator = of_first != Separator::kBlanks ? of_first : separator_of(head.back().text);
  const std::vector<std::string> first = table.file.fields_of(head.front(), separator);
  const bool is_named = choose_columns(table, first, options, wanted);
  const bool may_begin_with_words = !options.ids_are_numbers || table.id != std::optional<std::size_t>(0);
  table.rows = {.separator = separator,
                .num_columns = first.size(),
                .comments = may_begin_with_words ? CommentRule::kInFront : CommentRule::kAnywhere,
                .lines_are_rows = !table.id,
                .num_threads = options.num_threads};
  table.sample = table.file.read_ahead(kMaxSample, table.rows);
  const bool is_guessed = options.header == HeaderRule::kAuto && !is_named && is_header(table, first, options);
  table.guesses_header = is_guessed;
  if (options.header == HeaderRule::kYes || (options.header == HeaderRule::kAuto && (is_named || is_guessed))) {
    table.header = first;
    table.file.take_header();
  } else {
    table.sample.insert(table.sample.begin(), first);
  }
  table.begins_with_words =
      options.header == HeaderRule::kAuto && table.header.empty() && std::ranges::none_of(first, is_number);
  check_id(table, first, options, wanted);
  return table;
}

void say_what_is_read(const NodeTable& table, const NodeTableOptions& options, std::vector<std::size_t> used) {
  if (table.guesses_header) log_info(table.file.path().string() + ": the first line is a header, no node");
  for (const auto& column : {table.id, table.time})
    if (column) used.push_back(*column);
  if (!options.is_shared) say_unused(table.file, table.header, used, table.rows.num_columns);
  if (table.header.empty()) say_if_counted(table.file, table.rows.separator);
}

void ParsedIds::append(const NodeTable& table, std::span<const std::string_view> fields, std::uint64_t number,
                       std::string_view line) {
  lines.push_back(number);
  if (!table.id) return;
  const std::string_view id = fields[*table.id];
  if (const char* rule = broken_id_rule(id, line)) fail_at_line(table.file.path(), number, line, rule);
  ids.append(id);
}

void IdTaker::take(const ParsedIds& parsed) {
  for (std::size_t row = 0; row < parsed.ids.size(); ++row) {
    const std::string_view id = parsed.ids[row];
    if (const char* rule = take_id_(id)) fail_at_line(path_, parsed.lines[row], id, rule);
    std::uint64_t number = 0;
    if (are_numbers_ && id_form(id, number) == IdForm::kUnusual && !std::exchange(is_said_, true))
      log_info(line_name(path_, parsed.lines[row]) + ": " + unusual_id_text(id));
  }
}

}  // namespace salient
