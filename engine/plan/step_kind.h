// engine/plan/step_kind.h - the two ways to compute a batch, of training or of predictions.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class StepKind : std::uint8_t {
  kEager,     ///< any model: batches of a loader, LibTorch's operators and ours, one after another
  kResident,  ///< all of a step on the GPU, as one graph that the host replays: models/resident
};

constexpr auto names_of(StepKind) {
  return std::to_array<EnumName<StepKind>>({{StepKind::kEager, "eager"}, {StepKind::kResident, "resident"}});
}

}  // namespace salient
