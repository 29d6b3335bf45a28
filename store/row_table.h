// store/row_table.h - a matrix of features or labels as the loaders see it: rows of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/enum_names.h"
#include "store/near_rows.h"

namespace salient {

enum class FeatureType : std::uint8_t {
  kF16,
  kF32,
  kFp8,  ///< core/fp8.h: numbers with 4 significant bits, times one scale for the whole table
};

constexpr auto names_of(FeatureType) {
  return std::to_array<EnumName<FeatureType>>(
      {{FeatureType::kF16, "f16"}, {FeatureType::kF32, "f32"}, {FeatureType::kFp8, "fp8"}});
}

constexpr std::size_t size_of(FeatureType type) {
  return type == FeatureType::kFp8 ? 1 : type == FeatureType::kF16 ? 2 : 4;
}

/// What rows become where they are gathered: f16 holds the numbers of fp8, times the scale, exactly.
constexpr FeatureType gathered_type(FeatureType stored) {
  return stored == FeatureType::kFp8 ? FeatureType::kF16 : stored;
}

/// Row-major matrix, seen as bytes so that one routine serves every dtype. Borrows `data`.
struct RowTable {
  const std::byte* data = nullptr;  ///< [num_rows, row_bytes]
  std::size_t num_rows = 0;         ///< V
  std::size_t row_bytes = 0;        ///< of features: feature_dim * size_of(dtype)
  float fp8_scale = 0;              ///< of features in fp8: what their numbers are times; 0 = other rows
  NearRows near{};                  ///< of a table on the GPU: which rows to read from copies behind its end

  /// Where to read the row of a node.
  SALIENT_HOST_DEVICE const std::byte* row(NodeId node) const {
    return data + std::size_t{near.row_of(node)} * row_bytes;
  }
};

}  // namespace salient
