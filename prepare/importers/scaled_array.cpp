// prepare/importers/scaled_array.cpp - see scaled_array.h.
#include "prepare/importers/scaled_array.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/value_text.h"
#include "prepare/importers/array_rows.h"
#include "prepare/importers/column_statistics.h"
#include "prepare/importers/node_arrays.h"

namespace salient {
namespace {

std::string column_name(std::size_t c) { return "column " + std::to_string(c); }

void require_finite(const NpyFile& file, std::span<const double> values, std::size_t dim, std::size_t first) {
  const auto bad = std::ranges::find_if_not(values, [](double value) { return std::isfinite(value); });
  if (bad == values.end()) return;
  const auto at = static_cast<std::size_t>(bad - values.begin());
  fail(ErrorKind::kBadData, file.name() + ": row " + std::to_string(first + at / dim) + ", " + column_name(at % dim) +
                                " is " + to_text(*bad) + "; features are finite");
}

TableCoding coding_of_array(const NpyFile& file, std::size_t dim) {
  std::vector<ColumnStatistics> columns(dim);
  for_each_row_block<double>(file, dim, "measuring features", [&](std::span<const double> values, std::size_t first) {
    require_finite(file, values, dim, first);
    std::vector<ColumnStatistics> of_block(dim);
    for (std::size_t i = 0; i < values.size(); ++i) of_block[i % dim].add(values[i], first + i / dim);
    for (std::size_t c = 0; c < dim; ++c) columns[c].merge(of_block[c]);
  });
  TableCoding coding;
  for (std::size_t c = 0; c < dim; ++c)
    coding.columns.push_back({.name = column_name(c),
                              .mean = columns[c].mean(),
                              .deviation = columns[c].deviation() > 0 ? columns[c].deviation() : 1,
                              .blank = columns[c].mean()});
  return coding;
}

void require_array(const TableCoding& as, const NpyFile& file, std::size_t dim) {
  bool fits = as.columns.size() == dim;
  for (std::size_t c = 0; fits && c < dim; ++c)
    fits = as.columns[c].name == column_name(c) && as.columns[c].kind == ColumnKind::kNumber;
  if (!fits)
    fail(ErrorKind::kBadData, file.name() + ": an array of " + std::to_string(dim) +
                                  " columns, which is not what the data set that it is to be coded as was made of");
}

}  // namespace

CodedFeatures read_scaled_array(const std::filesystem::path& path, FeatureType type, const MemoryLimit& memory,
                                const std::optional<TableCoding>& as) {
  const NpyFile file(path);
  const std::size_t dim = width_of_features(file);
  memory.check(file.data().size() + file.header().num_items() * size_of(type), file.name());
  if (as) require_array(*as, file, dim);
  CodedFeatures read{.features = {.type = type, .dim = static_cast<int>(dim)},
                     .coding = as ? *as : coding_of_array(file, dim)};
  read.features.column_names = read.coding.feature_names();
  read.features.rows.reserve(file.header().num_items() * size_of(type));
  std::vector<double> scaled;
  for_each_row_block<double>(file, dim, "reading features", [&](std::span<const double> values, std::size_t first) {
    require_finite(file, values, dim, first);
    scaled.resize(values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      (void)code_number(read.coding.columns[i % dim], values[i], std::span(scaled).subspan(i, 1));
    append_feature_rows(read.features, scaled.data(), scaled.size(), file.name());
  });
  return read;
}

}  // namespace salient
