// prepare/importers/scaled_array.h - features of an array whose columns get mean 0 and deviation 1.
#pragma once

#include <filesystem>
#include <optional>

#include "prepare/importers/feature_table.h"
#include "prepare/importers/memory_limit.h"
#include "store/row_table.h"
#include "store/table_coding.h"

namespace salient {

/// As read_features() of an array, of which column c becomes (x - mean) / deviation and is called "column c". A column
/// of one value becomes 0.
///
/// @param as  how another array was scaled, instead of by this one's means and deviations
/// @throws as read_features(); Error{kBadData} where `as` is not of such an array, of as many columns
/// Cost: reads the array twice, on one core.
CodedFeatures read_scaled_array(const std::filesystem::path& path, FeatureType type, const MemoryLimit& memory,
                                const std::optional<TableCoding>& as = {});

}  // namespace salient
