// models/numerics.h - how a model computes what its equations leave open: each model has its own, a process has none.
#pragma once

#include <cstdint>

#include "models/describe/model_options.h"

namespace salient {

/// The order in which a gradient's terms are added up on a device. On the host it is always fixed.
enum class GradientOrder : std::uint8_t {
  kAny,    ///< by atomics: the last bits depend on timing
  kFixed,  ///< over edges that are sorted by source once more per hop and operator
};

struct Numerics {
  Precision precision = Precision::kFp32;
  GradientOrder gradient_order = GradientOrder::kAny;
};

}  // namespace salient
