// store/table_coding.cpp - see table_coding.h.
#include "store/table_coding.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/field_values.h"
#include "core/files/json_text.h"
#include "core/number_text.h"
#include "core/value_text.h"

namespace salient {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kKind = "table";

bool has_words(const ColumnCoding& column) {
  return column.kind == ColumnKind::kCategory || column.kind == ColumnKind::kIndex;
}

Json json_of(const ColumnCoding& column) {
  Json json = {{"name", column.name}, {"kind", name_of(column.kind)}};
  if (column.kind == ColumnKind::kNumber) json.update({{"mean", column.mean}, {"deviation", column.deviation}});
  if (has_words(column))
    json["categories"] = column.categories;
  else
    json["blank"] = column.blank;
  json["marks_blanks"] = column.marks_blanks;
  return json;
}

ColumnCoding column_of(const Json& json) {
  ColumnCoding column{.name = json.at("name"), .marks_blanks = json.at("marks_blanks")};
  const std::optional<ColumnKind> kind = value_named<ColumnKind>(json.at("kind").get<std::string>());
  if (!kind) fail(ErrorKind::kBadData, "a column of an unknown kind");
  column.kind = *kind;
  if (column.kind == ColumnKind::kNumber) {
    column.mean = json.at("mean");
    column.deviation = json.at("deviation");
  }
  if (has_words(column))
    column.categories = json.at("categories");
  else
    column.blank = json.at("blank");
  const bool is_sound = std::isfinite(column.mean) && std::isfinite(column.deviation) && column.deviation > 0 &&
                        std::isfinite(column.blank) && std::ranges::is_sorted(column.categories);
  if (!is_sound) fail(ErrorKind::kBadData, "a column that cannot be coded");
  return column;
}

double scaled(const ColumnCoding& column, double value) { return (value - column.mean) / column.deviation; }

std::string text_of(const ColumnCoding& column) {
  if (column.kind == ColumnKind::kNumber && (column.mean != 0 || column.deviation != 1))
    return printed("a number less %.6g, by %.6g", column.mean, column.deviation);
  if (column.kind == ColumnKind::kNumber) return "a number as it is";
  if (column.kind == ColumnKind::kYesNo) return "yes or no";
  return std::string(column.kind == ColumnKind::kIndex ? "the number" : "one") + " of " +
         std::to_string(column.categories.size()) + " words";
}

}  // namespace

int ColumnCoding::width() const {
  return (kind == ColumnKind::kCategory ? static_cast<int>(categories.size()) : 1) + (marks_blanks ? 1 : 0);
}

std::vector<std::string> ColumnCoding::feature_names() const {
  std::vector<std::string> names;
  if (kind == ColumnKind::kCategory)
    for (const std::string& word : categories) names.push_back(name + "=" + word);
  else
    names.push_back(name);
  if (marks_blanks) names.push_back(name + " is missing");
  return names;
}

int TableCoding::width() const {
  int width = 0;
  for (const ColumnCoding& column : columns) width += column.width();
  return width;
}

std::vector<std::string> TableCoding::feature_names() const {
  std::vector<std::string> names;
  for (const ColumnCoding& column : columns)
    for (std::string& name : column.feature_names()) names.push_back(std::move(name));
  return names;
}

bool TableCoding::is_blank(std::string_view field) const {
  return is_missing(field) || std::ranges::find(blanks, field) != blanks.end();
}

const ColumnCoding* TableCoding::column_named(std::string_view name) const {
  const auto found = std::ranges::find(columns, name, &ColumnCoding::name);
  return found == columns.end() ? nullptr : &*found;
}

const char* code_number(const ColumnCoding& column, double value, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  if (has_words(column)) return code_word(column, to_text(value), out);
  if (!std::isfinite(value)) return "is not finite";
  if (column.kind == ColumnKind::kYesNo && value != 0 && value != 1) return "is neither yes nor no";
  out[0] = scaled(column, value);
  return nullptr;
}

const char* code_word(const ColumnCoding& column, std::string_view word, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  if (column.kind == ColumnKind::kNumber) return "is no number";
  if (column.kind == ColumnKind::kYesNo) {
    const std::optional<bool> is_yes = yes_or_no(word);
    if (!is_yes) return "is neither yes nor no";
    out[0] = *is_yes ? 1 : 0;
    return nullptr;
  }
  const auto found = std::ranges::lower_bound(column.categories, word);
  const bool is_known = found != column.categories.end() && *found == word;
  const auto number = static_cast<std::size_t>(found - column.categories.begin());
  if (column.kind == ColumnKind::kIndex)
    out[0] = is_known ? static_cast<double>(number) : -1;
  else if (is_known)
    out[number] = 1;
  return nullptr;
}

const char* code_blank(const TableCoding& coding, const ColumnCoding& column, std::span<double> out) {
  std::ranges::fill(out, 0.0);
  if (!coding.knows_blanks) return kBlankRule;
  if (column.kind == ColumnKind::kIndex) out[0] = -1;
  if (!has_words(column)) out[0] = scaled(column, column.blank);
  if (column.marks_blanks) out.back() = 1;
  return nullptr;
}

const char* code_field(const TableCoding& coding, const ColumnCoding& column, std::string_view field,
                       std::span<double> out) {
  if (coding.is_blank(field)) return code_blank(coding, column, out);
  double number = 0;
  if (!has_words(column) && parse_number(field, number)) return code_number(column, number, out);
  return code_word(column, field, out);
}

FeatureOrigin origin_of(const TableCoding& coding) {
  if (std::ranges::all_of(coding.columns, &ColumnCoding::is_plain)) return {};
  Json json = {{"columns", Json::array()}, {"blanks", coding.blanks}};
  for (const ColumnCoding& column : coding.columns) json["columns"].push_back(json_of(column));
  return {{"kind", kKind}, {"coding", json.dump(-1, ' ', false, Json::error_handler_t::replace)}};
}

std::optional<TableCoding> coding_of(const FeatureOrigin& origin, const std::string& file) {
  const auto kind = origin.find("kind"), text = origin.find("coding");
  if (kind == origin.end() || kind->second != kKind || text == origin.end()) return std::nullopt;
  try {
    const Json json = parse_json<Json>(text->second);
    TableCoding coding{.blanks = json.at("blanks")};
    for (const Json& column : json.at("columns")) coding.columns.push_back(column_of(column));
    return coding;
  } catch (const nlohmann::json::exception& cause) {
    fail(ErrorKind::kBadData, file + ": does not say how its table was coded: " + cause.what());
  } catch (const Error& cause) {
    fail(ErrorKind::kBadData, file + ": does not say how its table was coded: " + cause.what());
  }
}

std::optional<TableCoding> coding_of_columns(const FeatureOrigin& origin, const std::vector<std::string>& names,
                                             const std::string& file) {
  if (!origin.empty()) return coding_of(origin, file);
  if (names.empty()) return std::nullopt;
  TableCoding coding{.knows_blanks = false};
  for (const std::string& name : names) coding.columns.push_back({.name = name});
  return coding;
}

std::string difference_of(const TableCoding& run, const TableCoding& data) {
  if (run.blanks != data.blanks) return "other words stand for a blank";
  for (const ColumnCoding& column : run.columns) {
    const ColumnCoding* const found = data.column_named(column.name);
    if (found == nullptr) return "it lacks the column '" + column.name + "'";
    if (*found == column) continue;
    std::string here = text_of(*found), there = text_of(column);
    if (here == there)
      here = found->marks_blanks == column.marks_blanks ? "other words" : "with other blanks", there = "not";
    return "the column '" + column.name + "' is " + here + "; of the run it is " + there;
  }
  return "";
}

}  // namespace salient
