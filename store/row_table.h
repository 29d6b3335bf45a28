// store/row_table.h - a matrix of features or labels as the loaders see it: rows of bytes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace salient {

enum class FeatureType : std::uint8_t { kF16, kF32 };

constexpr std::size_t size_of(FeatureType type) { return type == FeatureType::kF16 ? 2 : 4; }

/// Row-major matrix, seen as bytes so that one routine serves every dtype. Borrows `data`.
struct RowTable {
  const std::byte* data = nullptr;  ///< [num_rows, row_bytes]
  std::size_t num_rows = 0;         ///< V
  std::size_t row_bytes = 0;        ///< of features: feature_dim * size_of(dtype)
};

}  // namespace salient
