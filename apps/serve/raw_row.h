// apps/serve/raw_row.h - a new node as its table has it: {"country": "DE", "age": null, "newsletter": true}.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "store/raw_rows.h"

namespace salient::serve {

/// Appends the features of a row. A value is a number, text, true, false, or null for a blank; every column has one.
///
/// @param object  an object    @param where  in front of messages    @throws Error{kBadData} naming the column
void append_raw_row(const nlohmann::json& object, const RawRows& rows, const std::string& where,
                    std::vector<float>& features);

}  // namespace salient::serve
