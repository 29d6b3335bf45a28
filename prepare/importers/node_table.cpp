// prepare/importers/node_table.cpp - see node_table.h.
#include "prepare/importers/node_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/open_node_table.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// Ids and labels of a block of rows.
struct ParsedLabels {
  ParsedIds ids{};
  NameTable labels{};
  std::vector<float> values{};  // of targets
};

/// A value to be predicted, NaN where it is missing.
float target_of(std::string_view field, const NodeTable& table, std::size_t column, std::uint64_t line,
                const NodeTableOptions& options) {
  double value = std::numeric_limits<double>::quiet_NaN();
  const bool is_blank = is_missing(field) || std::ranges::find(options.blanks, field) != options.blanks.end();
  const auto refuse = [&](const std::string& rule) {
    fail_at_line(table.file.path(), line, field, table.name_of(column) + " " + rule, Topic::kTableColumn);
  };
  if (!is_blank && !parse_number(field, value)) refuse(std::string("is no number to predict") + number_hint(field));
  if (std::isinf(value) || std::fabs(value) > double{std::numeric_limits<float>::max()})
    refuse("is not finite, or beyond the range of a float");
  return static_cast<float>(value);
}

}  // namespace

bool has_ids(const fs::path& path, const NodeTableOptions& options) {
  return open_node_table(path, options, Wanted::kLabels).id.has_value();
}

TableParts parts_of(const fs::path& path, const NodeTableOptions& options) {
  const bool is_said = !options.label_column.empty() || !options.targets.empty();
  const NodeTable table = open_node_table(path, options, is_said ? Wanted::kLabelledFeatures : Wanted::kFeatures);
  const std::size_t num_labels = table.label ? 1 : table.targets.size();
  return {.has_label = num_labels > 0,
          .has_features = table.rows.num_columns > (table.id ? 1U : 0U) + (table.time ? 1U : 0U) + num_labels};
}

bool has_ids_of_text(const fs::path& path, const NodeTableOptions& options) {
  const NodeTable table = open_node_table(path, options, Wanted::kFeatures);
  std::uint64_t id = 0;
  const auto num_words =
      std::ranges::count_if(table.sample, [&](const auto& row) { return !parse_id(row[table.id.value_or(0)], id); });
  return 2 * num_words > std::ssize(table.sample);
}

TableLabels read_label_table(const fs::path& path, const NodeTableOptions& options, const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, Wanted::kLabels);
  say_what_is_read(table, options, table.label ? std::vector{*table.label} : table.targets);
  if (table.begins_with_words) log_info(path.string() + ": the first line is a node, no header");
  TableLabels labels{.names = NameMap(options.memory)};
  for (const std::size_t column : table.targets) labels.targets.push_back(table.plain_name_of(column));
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedLabels& parsed) {
    parsed.ids.append(table, fields, number, line);
    if (table.label) parsed.labels.append(fields[*table.label]);
    for (const std::size_t column : table.targets)
      parsed.values.push_back(target_of(fields[column], table, column, number, options));
  };
  IdTaker ids(path, options, take_id);
  table.rows.label = "reading labels";
  table.file.for_each_row<ParsedLabels>(table.rows, parse, [&](const ParsedLabels& parsed) {
    ids.take(parsed.ids);
    options.memory.check((labels.values.size() + parsed.values.size()) * sizeof(float), path.string());
    labels.values.insert(labels.values.end(), parsed.values.begin(), parsed.values.end());
    for (std::size_t row = 0; row < parsed.labels.size(); ++row) {
      const std::uint64_t line = parsed.ids.lines[row];
      labels.codes.push_back(labels.names.add(parsed.labels[row]));
      if (labels.names.size() > labels.first_lines.size()) labels.first_lines.push_back(line);
      if (labels.names.size() > static_cast<std::size_t>(kMaxClasses))
        fail_at_line(path, line, parsed.labels[row], "more than " + std::to_string(kMaxClasses) + " different labels");
    }
  });
  return labels;
}

void read_id_list(const fs::path& path, const NodeTableOptions& options, const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, Wanted::kIds);
  say_what_is_read(table, options, {});
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         ParsedIds& parsed) { parsed.append(table, fields, number, line); };
  IdTaker ids(path, options, take_id);
  table.rows.label = "reading ids";
  table.file.for_each_row<ParsedIds>(table.rows, parse, [&](const ParsedIds& parsed) { ids.take(parsed); });
}

}  // namespace salient
