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

/// The rows of a table as they are read: as features where numbers stay as they are, and as fields until that is sure.
class Rows {
 public:
  Rows(const fs::path& path, FeatureType type, const MemoryLimit& memory)
      : path_(path), memory_(memory), plain_{.type = type} {}

  void append(std::vector<double> values, const FeatureColumns& columns) {
    if (may_be_plain_ && !columns.may_be_plain(plain_.type)) {
      may_be_plain_ = false;
      plain_ = {.type = plain_.type};
    }
    if (may_be_plain_) {
      plain_.dim = static_cast<int>(columns.width());
      append_to(plain_, values);
    }
    memory_.check(values.size() * sizeof(double), path_.string());
    values.shrink_to_fit();
    blocks_.push_back(std::move(values));
  }

  RawFeatures features(const FeatureColumns& columns) {
    if (may_be_plain_ && columns.is_plain() && plain_.dim > 0) return std::move(plain_);
    RawFeatures coded{.type = plain_.type, .dim = columns.coding().width()};
    plain_ = {};
    for (std::vector<double>& block : blocks_) append_to(coded, columns.coded(std::exchange(block, {})));
    return coded;
  }

 private:
  void append_to(RawFeatures& features, const std::vector<double>& values) const {
    const std::size_t wanted = features.rows.size() + values.size() * size_of(features.type);
    if (wanted > features.rows.capacity()) {
      memory_.check(std::max(2 * features.rows.capacity(), wanted), path_.string());
      features.rows.reserve(std::max(2 * features.rows.capacity(), wanted));
    }
    append_feature_rows(features, values.data(), values.size(), path_.string());
  }

  const fs::path& path_;
  const MemoryLimit& memory_;
  bool may_be_plain_ = true;
  RawFeatures plain_;
  std::vector<std::vector<double>> blocks_{};
};

}  // namespace

CodedFeatures read_feature_table(const fs::path& path, const NodeTableOptions& options, const FeatureTableOptions& how,
                                 const TakeId& take_id) {
  NodeTable table = open_node_table(path, options, how.labels_too ? Wanted::kLabelledFeatures : Wanted::kFeatures);
  if (table.label && how.wishes.coding && how.wishes.coding->column_named(table.plain_name_of(*table.label)))
    table.label.reset();  // by its name alone: the other table has it as a feature
  FeatureColumns columns(table, how.wishes);
  if (!how.labels_too) {  // else who reads the labels says it
    std::vector<std::size_t> used = columns.used();
    if (table.label) used.push_back(*table.label);
    say_what_is_read(table, options, used);
    if (table.label)
      log_info(path.string() + ": " + table.name_of(*table.label) + " is a label by its name, and no feature");
  }
  Rows rows(path, how.type, options.memory);
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
    rows.append(std::move(parsed.values), columns);
  });
  columns.finish(how.type);
  say_coding(path, columns.coding());
  RawFeatures features = rows.features(columns);
  if (!table.header.empty() || !columns.is_plain()) features.column_names = columns.coding().feature_names();
  return {std::move(features), columns.coding()};
}

}  // namespace salient
