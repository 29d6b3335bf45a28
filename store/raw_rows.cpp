// store/raw_rows.cpp - see raw_rows.h.
#include "store/raw_rows.h"

#include <algorithm>
#include <utility>

namespace salient {

std::optional<RawRows> raw_rows_of(const DatasetFacts& facts, const std::string& file) {
  std::optional<TableCoding> coding = coding_of_columns(facts.feature_origin, facts.column_names, file);
  if (!coding) return std::nullopt;
  RawRows rows{.coding = *std::move(coding)};
  for (const std::string& name : rows.coding.feature_names()) {
    const auto found = std::ranges::find(facts.column_names, name);
    if (found == facts.column_names.end()) return std::nullopt;
    rows.place_of.push_back(static_cast<std::size_t>(found - facts.column_names.begin()));
  }
  return rows.place_of.size() == static_cast<std::size_t>(facts.feature_dim) ? std::optional(std::move(rows))
                                                                             : std::nullopt;
}

void place_rows(const RawRows& rows, std::span<const float> coded, std::span<float> out) {
  const std::size_t width = rows.place_of.size();
  for (std::size_t i = 0; i < coded.size(); ++i) out[i / width * width + rows.place_of[i % width]] = coded[i];
}

}  // namespace salient
