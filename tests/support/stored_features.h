// tests/support/stored_features.h - random feature rows as tensors: as a store has them, and their values.
#pragma once

#include <ATen/ATen.h>

#include "store/row_table.h"

namespace salient::test {

struct StoredFeatures {
  StoredFeatures() = default;
  StoredFeatures(std::int64_t num_rows, std::int64_t width, FeatureType type) {
    constexpr float kScale = 0x1p-6F;
    const at::Tensor drawn = at::randn({num_rows, width});
    if (type == FeatureType::kFp8) {
      unit = kScale;
      stored = drawn.div(kScale).to(at::kFloat8_e4m3fn);
      values = stored.to(at::kFloat).mul(kScale);
    } else {
      values = stored = drawn.to(type == FeatureType::kF16 ? at::kHalf : at::kFloat);
    }
  }

  at::Tensor stored{}, values{};  ///< [num_rows, width] host
  float unit = 1;                 ///< values are stored times this
};

}  // namespace salient::test
