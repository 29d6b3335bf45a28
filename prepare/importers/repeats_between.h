// prepare/importers/repeats_between.h - what becomes of a link of one split that an earlier split has.
#pragma once

#include <array>

#include "core/enum_names.h"

namespace salient {

/// Of training, validation and test in this order.
enum class RepeatsBetween {
  kRefuse,
  kDrop,  ///< it is left out of the later split
  kKeep,  ///< it stays in both, as in benchmarks that ask for what a model has seen
};

constexpr auto names_of(RepeatsBetween) {
  return std::to_array<EnumName<RepeatsBetween>>(
      {{RepeatsBetween::kRefuse, "refuse"}, {RepeatsBetween::kDrop, "drop"}, {RepeatsBetween::kKeep, "keep"}});
}

}  // namespace salient
