// apps/serve/raw_row.cpp - see raw_row.h.
#include "apps/serve/raw_row.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <span>

#include "apps/serve/json_echo.h"
#include "core/error.h"

namespace salient::serve {
namespace {

using nlohmann::json;

/// @return  null, or the rule that the value breaks
const char* code(const json& value, const TableCoding& coding, const ColumnCoding& column, std::span<double> out) {
  if (value.is_null()) return code_blank(coding, column, out);
  if (value.is_number()) return code_number(column, value.get<double>(), out);
  if (value.is_string()) return code_field(coding, column, value.get_ref<const std::string&>(), out);
  if (value.is_boolean() && column.kind == ColumnKind::kYesNo)
    return code_number(column, value.get<bool>() ? 1 : 0, out);
  return "takes one value of another kind";
}

}  // namespace

void append_raw_row(const json& object, const RawRows& rows, const std::string& where, std::vector<float>& features) {
  for (const auto& field : object.items())
    if (rows.coding.column_named(field.key()) == nullptr)
      fail(ErrorKind::kBadData, where + "the table has no column " + echo(json(field.key())));
  std::vector<float> row;
  for (const ColumnCoding& column : rows.coding.columns) {
    const std::string name = where + "column " + echo(json(column.name)) + " ";
    const auto value = object.find(column.name);
    if (value == object.end()) fail(ErrorKind::kBadData, name + "is not there; null is a missing value");
    std::vector<double> coded(static_cast<std::size_t>(column.width()));
    if (const char* const rule = code(*value, rows.coding, column, coded))
      fail(ErrorKind::kBadData, name + rule + ": " + echo(*value));
    for (const double number : coded) {
      const auto feature = static_cast<float>(number);
      if (!std::isfinite(feature)) fail(ErrorKind::kBadData, name + "is beyond the range of a float: " + echo(*value));
      row.push_back(feature);
    }
  }
  features.resize(features.size() + row.size());
  place_rows(rows, row, std::span(features).last(row.size()));
}

}  // namespace salient::serve
