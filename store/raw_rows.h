// store/raw_rows.h - how rows of a data set's table become rows of its features, for nodes that it lacks.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "store/dataset_facts.h"
#include "store/table_coding.h"

namespace salient {

struct RawRows {
  TableCoding coding{};
  std::vector<std::size_t> place_of{};  ///< [coding.width()] in a row of the data set's features
};

/// Of a data set whose features come from a table, coded or as they were, and are all there; else nullopt.
std::optional<RawRows> raw_rows_of(const DatasetFacts& facts, const std::string& file);

/// Coded rows in the data set's order of features. @param coded, out  [rows, coding.width()]
void place_rows(const RawRows& rows, std::span<const float> coded, std::span<float> out);

}  // namespace salient
