// store/schema_text.h - lines of a summary: numbers, features, and the node types and relations of a typed graph.
#pragma once

#include <cstdint>
#include <string>

#include "store/dataset.h"

namespace salient {

/// 1,234,567
std::string grouped(std::uint64_t value);

/// "label           value\n"
std::string summary_line(std::string label, const std::string& value);

/// The width, type and size of feature rows, and how sparse ones are filled.
std::string features_text(const FeatureShape& shape, std::uint64_t num_values, std::uint64_t num_rows,
                          std::uint64_t bytes);

/// A line for each node type and each relation, with counts, and one for the slots.
std::string schema_text(const Dataset& dataset);

}  // namespace salient
