// apps/serve/raw_row.h - a new node as its table has it: {"country": "DE", "age": null, "newsletter": true}.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "store/dataset_facts.h"
#include "store/table_coding.h"

namespace salient::serve {

/// How the columns of a data set's table become its features.
struct RawRows {
  TableCoding coding{};
  std::vector<std::size_t> place_of{};  ///< [coding.width()] in a row of the data set's features
};

/// Of a data set whose features were coded from a table, and are all there; else nullopt.
std::optional<RawRows> raw_rows_of(const DatasetFacts& facts, const std::string& file);

/// Appends the features of a row. A value is a number, text, true, false, or null for a blank; every column has one.
///
/// @param object  an object    @param where  in front of messages    @throws Error{kBadData} naming the column
void append_raw_row(const nlohmann::json& object, const RawRows& rows, const std::string& where,
                    std::vector<float>& features);

}  // namespace salient::serve
