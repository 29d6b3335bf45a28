// prepare/writing/fp8_features.h - feature rows become fp8: one scale for the table, by its largest value.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "prepare/importers/raw_graph.h"

namespace salient {

/// The largest magnitude of each column of a feature matrix that is seen front to back.
class ColumnRanges {
 public:
  explicit ColumnRanges(int dim) : largest_(static_cast<std::size_t>(dim), 0.0F) {}

  /// @param values  the next ones of the matrix, row by row; finite
  void add(std::span<const float> values);

  /// The least scale that no value is beyond.
  /// @param file  named in the error.
  /// @throws Error{kBadData} for values beyond 57344, the largest that any scale has, and for a column so small, also
  ///         beside the others, that its numbers would have fewer than 4 significant bits. Both name the column.
  float fp8_scale(const std::string& file) const;

 private:
  std::vector<float> largest_;
  std::size_t column_ = 0;  // of the next value
};

/// Dense rows of f16 or f32, rounded to fp8 in their own memory. Warns of what they lose, unless they were made.
/// @param source  named in errors where the features have no file
/// @throws as ColumnRanges::fp8_scale() and FeatureLosses::text(); Error{kUsage} for sparse rows
RawFeatures in_fp8(RawFeatures features, const std::string& source);

}  // namespace salient
