// engine/report/relation_ranks.cpp - see relation_ranks.h.
#include "engine/report/relation_ranks.h"

#include <cmath>
#include <optional>
#include <sstream>

#include "core/field_values.h"
#include "core/files/is_there.h"

namespace salient {
namespace {

constexpr char kFile[] = "test_relations.csv";
constexpr const char* kNumbers[] = {"links", "mrr", "hits_at_1", "hits_at_3", "hits_at_10"};

/// A field of CSV without its quotes.
std::string unquoted(const std::string& field) {
  if (field.size() < 2 || field.front() != '"' || field.back() != '"') return field;
  std::string text;
  for (std::size_t i = 1; i + 1 < field.size(); ++i) {
    text += field[i];
    if (field[i] == '"') ++i;  // doubled inside
  }
  return text;
}

/// The relation is what its commas leave of the line.
std::optional<Json> row_of(std::string line) {
  std::string fields[6];
  for (std::size_t i = std::size(fields); i-- > 0;) {
    const std::size_t comma = line.rfind(',');
    if (comma == std::string::npos) return std::nullopt;
    fields[i] = line.substr(comma + 1);
    line.resize(comma);
  }
  Json row{{"relation", unquoted(line)}, {"side", fields[0]}};
  for (std::size_t i = 0; i < std::size(kNumbers); ++i) {
    double value = 0;
    if (!parse_number(fields[i + 1], value) || !std::isfinite(value)) return std::nullopt;
    row[kNumbers[i]] = value;
  }
  return row;
}

}  // namespace

Json read_relation_ranks(const std::filesystem::path& directory) {
  Json rows = Json::array();
  std::istringstream text(text_if_there(directory / kFile));
  std::string line;
  std::getline(text, line);
  if (!line.starts_with("relation,side,links,mrr,")) return rows;
  while (std::getline(text, line)) {
    const std::optional<Json> row = row_of(line);
    if (!row) return Json::array();
    rows.push_back(*row);
  }
  return rows;
}

}  // namespace salient
