// store/row_table.h - a matrix of features or labels as the loaders see it: rows of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class FeatureType : std::uint8_t { kF16, kF32 };

constexpr auto names_of(FeatureType) {
  return std::to_array<EnumName<FeatureType>>({{FeatureType::kF16, "f16"}, {FeatureType::kF32, "f32"}});
}

constexpr std::size_t size_of(FeatureType type) { return type == FeatureType::kF16 ? 2 : 4; }

/// Row-major matrix, seen as bytes so that one routine serves every dtype. Borrows `data`.
struct RowTable {
  const std::byte* data = nullptr;  ///< [num_rows, row_bytes]
  std::size_t num_rows = 0;         ///< V
  std::size_t row_bytes = 0;        ///< of features: feature_dim * size_of(dtype)
};

}  // namespace salient
