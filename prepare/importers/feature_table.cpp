// prepare/importers/feature_table.cpp - see feature_table.h.
#include "prepare/importers/feature_table.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/feature_columns.h"
#include "prepare/importers/open_node_table.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

void say_columns(const fs::path& path, const char* what, const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 8;
  if (names.empty()) return;
  std::string text = path.string() + ": " + what;
  for (std::size_t i = 0; i < std::min(kMost, names.size()); ++i)
    text.append(i == 0 ? "" : ", ").append(in_quotes(names[i]));
  log_info(names.size() > kMost ? text + " and " + std::to_string(names.size() - kMost) + " more" : text);
}

void say_coding(const fs::path& path, const TableCoding& coding) {
  std::vector<std::string> scaled, words, marked;
  for (const ColumnCoding& column : coding.columns) {
    if (column.mean != 0 || column.deviation != 1) scaled.push_back(column.name);
    if (column.kind == ColumnKind::kCategory || column.kind == ColumnKind::kIndex) words.push_back(column.name);
    if (column.marks_blanks) marked.push_back(column.name);
  }
  say_columns(path, "scaled to mean 0 and deviation 1: ", scaled);
  say_columns(path, "words became features: ", words);
  say_columns(path, "blank fields have the mean, and a feature that says so: ", marked);
}

RawFeatures features_of(std::vector<std::vector<double>> blocks, const FeatureColumns& columns, FeatureType type,
                        const NodeTable& table, const MemoryLimit& memory) {
  const TableCoding& coding = columns.coding();
  RawFeatures features{.type = type, .dim = coding.width()};
  const bool is_plain = std::ranges::all_of(coding.columns, &ColumnCoding::is_plain);
  if (!table.header.empty() || !is_plain) features.column_names = coding.feature_names();
  std::size_t num_rows = 0;
  for (const std::vector<double>& block : blocks) num_rows += block.size() / columns.width();
  const std::size_t num_bytes = num_rows * static_cast<std::size_t>(features.dim) * size_of(type);
  memory.check(num_bytes, table.file.path().string());
  features.rows.reserve(num_bytes);
  for (std::vector<double>& block : blocks) {
    const std::vector<double> coded = columns.coded(std::exchange(block, {}));
    append_feature_rows(features, coded.data(), coded.size(), table.file.path().string());
  }
  return features;
}

}  // namespace

CodedFeatures read_feature_table(const fs::path& path, const NodeTableOptions& options, const FeatureTableOptions& how,
                                 const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, how.labels_too ? Wanted::kLabelledFeatures : Wanted::kFeatures);
  FeatureColumns columns(table, how.wishes);
  if (!how.labels_too) {  // else who reads the labels says it
    std::vector<std::size_t> used = columns.used();
    if (table.label) used.push_back(*table.label);
    say_what_is_read(table, options, used);
    if (table.label)
      log_info(path.string() + ": " + table.name_of(*table.label) + " is a label by its name, and no feature");
  }
  std::vector<std::vector<double>> blocks;
  IdTaker ids(path, options, take_id);
  const auto parse = [&](std::span<const std::string_view> fields, std::uint64_t number, std::string_view line,
                         RawFields& parsed) {
    parsed.ids.append(table, fields, number, line);
    columns.parse(fields, number, parsed);
  };
  table.rows.label = "reading features";
  table.file.for_each_row<RawFields>(table.rows, parse, [&](RawFields&& parsed) {
    ids.take(parsed.ids);
    columns.take(parsed);
    options.memory.check(parsed.values.size() * sizeof(double), path.string());
    blocks.push_back(std::move(parsed.values));
  });
  columns.finish(how.type);
  say_coding(path, columns.coding());
  return {features_of(std::move(blocks), columns, how.type, table, options.memory), columns.coding()};
}

}  // namespace salient
