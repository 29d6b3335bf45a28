// store/feature_value.h - one value of a feature row, as it is stored, as a float.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/fp8.h"
#include "core/half.h"
#include "store/row_table.h"

namespace salient {

/// @param values  of `type`, with any alignment    @param fp8_scale  of kFp8
inline float feature_value(const std::byte* values, std::size_t i, FeatureType type, float fp8_scale) {
  if (type == FeatureType::kFp8) return fp8_to_float(std::to_integer<std::uint8_t>(values[i])) * fp8_scale;
  if (type == FeatureType::kF16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, values + i * sizeof bits, sizeof bits);
    return half_to_float(bits);
  }
  float value = 0;
  std::memcpy(&value, values + i * sizeof value, sizeof value);
  return value;
}

}  // namespace salient
