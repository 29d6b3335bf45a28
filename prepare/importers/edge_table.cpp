// prepare/importers/edge_table.cpp - see edge_table.h.
#include "prepare/importers/edge_table.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include "core/console/log.h"
#include "core/lower_case.h"
#include "prepare/importers/raw_graph.h"

namespace salient {
namespace {

using Columns = std::array<std::size_t, 2>;
using Fields = std::vector<std::string>;

constexpr std::size_t kMaxSample = 1000, kLeastSample = 20;  // rows

/// What people call the two ends of an edge.
constexpr std::pair<std::string_view, std::string_view> kEndNames[] = {{"source", "target"},
                                                                       {"source", "destination"},
                                                                       {"src", "dst"},
                                                                       {"from", "to"},
                                                                       {"source_id", "target_id"},
                                                                       {"from_id", "to_id"},
                                                                       {"node1", "node2"},
                                                                       {"node_1", "node_2"},
                                                                       {"id1", "id2"},
                                                                       {"id_1", "id_2"},
                                                                       {"u", "v"},
                                                                       {"head", "tail"},
                                                                       {"start", "end"},
                                                                       {"citing", "cited"},
                                                                       {"subject", "object"}};

bool begins_as_number(std::string_view text) {
  return !text.empty() && std::string_view("0123456789+-.").find(text[0]) != std::string_view::npos;
}

/// None of its fields is a number, and the first does not begin as one: "1.0,2.0" and "1a,2b" are bad edges instead.
bool has_no_numbers(const Fields& fields) {
  std::uint64_t id = 0;
  return !begins_as_number(fields.front()) &&
         std::ranges::none_of(fields, [&](const std::string& field) { return parse_id(field, id); });
}

std::optional<Columns> usual_columns(Fields header) {
  for (std::string& name : header) name = lower(name);
  for (const auto& [source, target] : kEndNames) {
    const auto from = std::ranges::find(header, source), to = std::ranges::find(header, target);
    if (from != header.end() && to != header.end())
      return Columns{static_cast<std::size_t>(from - header.begin()), static_cast<std::size_t>(to - header.begin())};
  }
  return std::nullopt;
}

bool are_named(const std::vector<std::string>& columns) {
  std::size_t number = 0;
  return std::ranges::any_of(
      columns, [&](const std::string& column) { return !column.empty() && !parse_number(column, number); });
}

IdKind kind_of(const Fields& edge, const Columns& columns) {
  const bool are_numbers = std::ranges::any_of(
      columns, [&](std::size_t column) { return column < edge.size() && begins_as_number(edge[column]); });
  return are_numbers ? IdKind::kNumbers : IdKind::kText;
}

std::size_t num_value_columns(const EdgeTable& table) { return table.value_columns().size(); }

/// Refuses columns that are not there, and more than two of which none was chosen.
///
/// @param next  the row behind the first, if that is a row, too
void check_width(const EdgeTable& table, const Fields& first, const Fields& next, bool are_chosen) {
  if (table.file.head().empty()) return;
  const TableRow& row = table.file.head().front();
  const auto refuse = [&](const std::string& rule) {
    fail_at_line(table.file.path(), row.number, row.text, rule, Topic::kEdgeColumns);
  };
  const std::string width = std::to_string(first.size());
  const std::size_t most = std::max(table.columns[0], table.columns[1]);
  if (first.size() <= most && are_chosen)
    refuse("only " + width + " columns; column " + std::to_string(most) + " was asked for");
  if (are_chosen || first.size() == 2 + num_value_columns(table)) return;
  if (!next.empty() && next.size() != first.size())
    fail_at_line(table.file.path(), row.number, row.text,
                 width + " columns, and the next row has " + std::to_string(next.size()) +
                     "; is it an adjacency list? Edges are a line each, with two ids");
  refuse(width + " columns; an edge has two");
}

/// Where nodes are known and no columns are chosen: of more than two the two whose fields are all nodes, or most.
void choose_columns_of_nodes(EdgeTable& table, const SampleRows& sample, const EdgeFileOptions& options) {
  const std::size_t num_values = num_value_columns(table);
  if (!options.is_node || table.rows.num_columns < 3 + num_values || sample.empty()) return;
  std::vector<std::ptrdiff_t> num_nodes;
  for (std::size_t column = 0; column < table.rows.num_columns; ++column)
    num_nodes.push_back(std::ranges::count_if(sample, [&](const Fields& row) { return options.is_node(row[column]); }));
  for (const std::ptrdiff_t least : {std::ssize(sample), std::ssize(sample) / 2 + 1}) {
    std::vector<std::size_t> found;
    for (std::size_t column = 0; column < num_nodes.size(); ++column)
      if (num_nodes[column] >= least) found.push_back(column);
    if (found.size() != 2 || table.guesses_columns) continue;
    table.columns = {found[0], found[1]};
    table.guesses_columns = true;
  }
}

/// The columns of weights and times, and where two others are left and none is chosen, those of the ends.
void choose_value_columns(EdgeTable& table, const Fields& first, const EdgeFileOptions& options, bool are_chosen) {
  const auto column_of = [&](const std::string& column) -> std::optional<std::size_t> {
    if (column.empty()) return std::nullopt;
    const std::size_t place = column_named(column, first, table.file, Topic::kEdgeColumns);
    if (place >= first.size())
      fail_at_line(table.file.path(), table.file.head().front().number, table.file.head().front().text,
                   "only " + std::to_string(first.size()) + " columns; column " + column + " was asked for",
                   Topic::kEdgeColumns);
    return place;
  };
  table.weight_column = column_of(options.weight_column);
  table.time_column = column_of(options.time_column);
  for (const std::string& column : options.feature_columns) table.feature_columns.push_back(*column_of(column));
  const std::vector<std::size_t> values = table.value_columns();
  std::vector<std::size_t> others;
  for (std::size_t column = 0; column < first.size(); ++column)
    if (std::ranges::find(values, column) == values.end()) others.push_back(column);
  if (!are_chosen && others.size() == 2 && others.size() < first.size()) table.columns = {others[0], others[1]};
}

/// Whether a first line of words, which no name makes a header, is one above edges of text.
bool looks_like_header(const EdgeTable& table, const Fields& first, const SampleRows& sample,
                       const EdgeFileOptions& options) {
  if (sample.empty()) return false;
  if (first.size() > 2 && are_words_above_values(first, sample, std::nullopt)) return true;
  const auto is_end = [&](const auto& test) { return std::ranges::all_of(table.columns, test); };
  if (options.is_node) return is_end([&](std::size_t column) { return !options.is_node(first[column]); });
  return is_end([&](std::size_t column) {
    const std::string usual = usual_form(sample, column);
    const bool occurs = std::ranges::any_of(sample, [&](const Fields& row) {
      return row[table.columns[0]] == first[column] || row[table.columns[1]] == first[column];
    });
    return sample.size() >= kLeastSample && !occurs && !usual.empty() && usual != form_of(first[column]);
  });
}

/// Entries: a row, a column, values.
void take_matrix(EdgeTable& table, const EdgeFileOptions& options) {
  const MatrixSizes& matrix = *table.file.matrix();
  require_size(table.file.path(), matrix.num_rows, matrix.num_columns, options);
  table.rows.separator = Separator::kBlanks;
  for (std::size_t end = 0; end < options.columns.size(); ++end)
    table.columns[end] = column_named(options.columns[end], {}, table.file, Topic::kEdgeColumns);
  if (table.file.head().empty()) return;
  const Fields first = table.file.fields_of(table.file.head().front(), Separator::kBlanks);
  table.rows.num_columns = first.size();
  choose_value_columns(table, first, options, /*are_chosen=*/true);
  check_width(table, first, {}, /*are_chosen=*/true);
}

/// Whether the names of two columns may be of two kinds of nodes, such as user and item; not "from_node" and "to_node",
/// "id1" and "id2", "x" and "y".
bool may_be_two_kinds(const std::string& source_name, const std::string& destination_name) {
  std::string source = lower(source_name), destination = lower(destination_name);
  const auto are_ends = [](const std::string& a, const std::string& b) {
    return std::ranges::any_of(kEndNames, [&](const auto& ends) {
      const auto& [from, to] = ends;
      return from.size() > 1 ? a.starts_with(from) && b.starts_with(to) : a == from && b == to;
    });
  };
  if (are_ends(source, destination) || are_ends(destination, source)) return false;
  for (std::string* name : {&source, &destination})
    std::erase_if(*name, [](unsigned char c) { return std::isdigit(c) != 0; });
  return source != destination && source.size() + destination.size() > 2;
}

std::string name_of(const EdgeTable& table, std::size_t column) {
  return table.header.empty() ? std::to_string(column) : in_quotes(table.header[column]);
}

}  // namespace

void require_size(const std::filesystem::path& path, std::uint64_t num_rows, std::uint64_t num_columns,
                  const EdgeFileOptions& options) {
  const std::optional<std::uint64_t>& num_nodes = options.num_nodes;
  const std::string what =
      path.string() + ": a matrix of " + std::to_string(num_rows) + " x " + std::to_string(num_columns);
  if (options.ends) {
    const auto& [sources, destinations] = *options.ends;
    if (num_rows != sources.count || num_columns != destinations.count)
      fail(ErrorKind::kBadData, what + "; there are " + std::to_string(sources.count) + " nodes of type '" +
                                    sources.kind + "' and " + std::to_string(destinations.count) + " of type '" +
                                    destinations.kind + "'");
    return;
  }
  if (num_rows != num_columns)
    fail(ErrorKind::kBadData, what + "; in a graph's the rows and the columns are the same nodes");
  if (!is_node_count(num_rows)) fail(ErrorKind::kBadData, what + "; a graph has 1 to 2^32 - 2 nodes");
  if (num_nodes && num_rows != *num_nodes)
    fail(ErrorKind::kBadData, what + ", the graph has " + std::to_string(*num_nodes) + " nodes");
}

EdgeTable open_edge_table(const std::filesystem::path& path, const EdgeFileOptions& options) {
  EdgeTable table{.file = TableFile(path)};
  table.has_two_kinds = options.ends.has_value();
  if (table.file.matrix() && options.ids != IdKind::kText) {
    take_matrix(table, options);
    return table;
  }
  const std::vector<TableRow>& head = table.file.head();
  if (head.empty()) {
    table.rows.comments = CommentRule::kInFront;  // all that there is may be rows
    return table;
  }
  const Separator of_first = separator_of(head.front().text);
  const Separator strict =
      of_first != Separator::kBlanks ? of_first : separator_of(head.back().text);  // "from to\n0,1"
  const Fields first = table.file.fields_of(head.front(), of_first);
  const Fields second = head.size() > 1 ? table.file.fields_of(head.back(), strict) : Fields{};
  const std::optional<Columns> usual = usual_columns(first);
  const bool are_chosen = !options.columns.empty() || usual;
  if (!options.columns.empty())
    for (std::size_t end = 0; end < 2; ++end)
      table.columns[end] = column_named(options.columns[end], first, table.file, Topic::kEdgeColumns);
  else if (usual)
    table.columns = *usual;
  choose_value_columns(table, first, options, are_chosen);

  const bool may_be_header = has_no_numbers(first);
  table.rows.num_columns = first.size();
  table.rows.separator = strict;
  SampleRows sample;
  if (options.ids != IdKind::kNumbers || options.is_node) {
    const RowRules as_text{.separator = strict, .num_columns = first.size(), .comments = CommentRule::kInFront};
    sample = table.file.read_ahead(kMaxSample, as_text);
  }
  if (!are_chosen) choose_columns_of_nodes(table, sample, options);
  table.ids = options.ids == IdKind::kAuto ? kind_of(may_be_header && !second.empty() ? second : first, table.columns)
                                           : options.ids;
  const bool is_numbers = table.ids == IdKind::kNumbers;
  check_width(table, first, may_be_header ? Fields{} : second, are_chosen || table.guesses_columns);
  if (is_numbers && first.size() == 2 && strict != Separator::kSemicolon) table.rows.separator = Separator::kAny;
  const bool begins_with_id = std::ranges::find(table.columns, std::size_t{0}) != table.columns.end();
  if (!is_numbers || !begins_with_id) table.rows.comments = CommentRule::kInFront;
  const bool is_named = are_named(options.columns) || are_named({options.weight_column, options.time_column}) ||
                        are_named(options.feature_columns) || usual || (is_numbers && may_be_header);
  table.guesses_header = options.header == HeaderRule::kAuto && !is_named && !is_numbers && may_be_header &&
                         looks_like_header(table, first, sample, options);
  if (options.header == HeaderRule::kYes ||
      (options.header == HeaderRule::kAuto && (is_named || table.guesses_header))) {
    table.header = first;
    table.file.take_header();
  }
  return table;
}

std::vector<std::size_t> EdgeTable::value_columns() const {
  std::vector<std::size_t> found = feature_columns;
  for (const std::optional<std::size_t>& column : {weight_column, time_column})
    if (column && std::ranges::find(found, *column) == found.end()) found.push_back(*column);
  return found;
}

void say_what_is_left(const EdgeTable& table) {
  const std::string file = table.file.path().string();
  const auto& [source, destination] = table.columns;
  if (const std::optional<MatrixSizes>& matrix = table.file.matrix()) {
    if (matrix->has_values && num_value_columns(table) == 0)
      log_info(file + ": the values of the entries are not used");
    return;
  }
  if (table.guesses_header) log_info(file + ": the first line is a header, no edge");
  if (table.guesses_columns)
    log_info(file + ": edges are in the columns " + name_of(table, source) + " and " + name_of(table, destination) +
             ", whose fields are nodes");
  std::vector<std::size_t> used{source, destination};
  for (const std::size_t column : table.value_columns()) used.push_back(column);
  say_unused(table.file, table.header, used, table.rows.num_columns);
  if (table.ids == IdKind::kNumbers && !table.header.empty() && !table.has_two_kinds &&
      may_be_two_kinds(table.header[source], table.header[destination]))
    log_info(file + ": equal ids in " + in_quotes(table.header[source]) + " and " +
             in_quotes(table.header[destination]) +
             " are one node; if they are two kinds of nodes, add an offset to one of them");
  if (table.header.empty() && table.ids == IdKind::kNumbers) say_if_counted(table.file, table.rows.separator);
}

}  // namespace salient
