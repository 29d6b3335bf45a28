// prepare/importers/edge_table.cpp - see edge_table.h.
#include "prepare/importers/edge_table.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "prepare/importers/raw_graph.h"

namespace salient {
namespace {

using Columns = std::array<std::size_t, 2>;
using Fields = std::vector<std::string>;

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
  for (std::string& name : header)
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  for (const auto& [source, target] : kEndNames) {
    const auto from = std::ranges::find(header, source), to = std::ranges::find(header, target);
    if (from != header.end() && to != header.end())
      return Columns{static_cast<std::size_t>(from - header.begin()), static_cast<std::size_t>(to - header.begin())};
  }
  return std::nullopt;
}

bool are_named(const std::vector<std::string>& columns) {
  std::size_t number = 0;
  return std::ranges::any_of(columns, [&](const std::string& column) { return !parse_number(column, number); });
}

IdKind kind_of(const Fields& edge, const Columns& columns) {
  const bool are_numbers = std::ranges::any_of(
      columns, [&](std::size_t column) { return column < edge.size() && begins_as_number(edge[column]); });
  return are_numbers ? IdKind::kNumbers : IdKind::kText;
}

/// Entries: a row, a column, values.
void take_matrix(EdgeTable& table, const EdgeFileOptions& options) {
  const MatrixSizes& matrix = *table.file.matrix();
  require_square(table.file.path(), matrix.num_rows, matrix.num_columns, options.num_nodes);
  table.separator = Separator::kBlanks;
  table.takes_all_columns = false;
  for (std::size_t end = 0; end < options.columns.size(); ++end)
    table.columns[end] = column_named(options.columns[end], {}, table.file, Topic::kEdgeColumns);
}

}  // namespace

void require_square(const std::filesystem::path& path, std::uint64_t num_rows, std::uint64_t num_columns,
                    std::optional<std::uint64_t> num_nodes) {
  const std::string what =
      path.string() + ": a matrix of " + std::to_string(num_rows) + " x " + std::to_string(num_columns);
  if (num_rows != num_columns)
    fail(ErrorKind::kBadData, what + "; in a graph's the rows and the columns are the same nodes");
  if (!is_node_count(num_rows)) fail(ErrorKind::kBadData, what + "; a graph has 1 to 2^32 - 2 nodes");
  if (num_nodes && num_rows != *num_nodes)
    fail(ErrorKind::kBadData, what + ", the graph has " + std::to_string(*num_nodes) + " nodes");
}

EdgeTable open_edge_table(const std::filesystem::path& path, const EdgeFileOptions& options) {
  EdgeTable table{.file = TableFile(path)};
  if (table.file.matrix() && options.ids != IdKind::kText) {
    take_matrix(table, options);
    return table;
  }
  const std::vector<TableRow>& head = table.file.head();
  if (head.empty()) return table;
  const Separator of_first = separator_of(head.front().text);
  const Separator strict =
      of_first != Separator::kBlanks ? of_first : separator_of(head.back().text);  // "from to\n0,1"
  const Fields first = table.file.fields_of(head.front(), of_first);
  const std::optional<Columns> usual = usual_columns(first);
  table.takes_all_columns = options.columns.empty() && !usual;
  if (!options.columns.empty())
    for (std::size_t end = 0; end < 2; ++end)
      table.columns[end] = column_named(options.columns[end], first, table.file, Topic::kEdgeColumns);
  else if (usual)
    table.columns = *usual;

  const bool may_be_header = has_no_numbers(first);
  const Fields edge = may_be_header && head.size() > 1 ? table.file.fields_of(head.back(), strict) : first;
  table.ids = options.ids == IdKind::kAuto ? kind_of(edge, table.columns) : options.ids;
  const bool is_numbers = table.ids == IdKind::kNumbers;
  const bool is_lenient = is_numbers && table.takes_all_columns && strict != Separator::kSemicolon;
  table.separator = is_lenient ? Separator::kAny : strict;
  const bool is_named = are_named(options.columns);
  table.has_header = is_named || usual || (is_numbers && may_be_header);
  if (table.has_header) table.file.take_header();
  return table;
}

}  // namespace salient
