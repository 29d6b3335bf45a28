// sampler/draw_kind.h - how people say which neighbours a batch draws.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"
#include "sampler/draws.h"

namespace salient {

enum class DrawKind : std::uint8_t {
  kUniform,  ///< every node by random numbers of its own
  kLabor,    ///< Replacement::kLabor
};

constexpr auto names_of(DrawKind) {
  return std::to_array<EnumName<DrawKind>>({{DrawKind::kUniform, "uniform"}, {DrawKind::kLabor, "labor"}});
}

/// Labor is without replacement.
constexpr Replacement replacement_of(bool is_with_replacement, DrawKind draw) {
  if (draw == DrawKind::kLabor) return Replacement::kLabor;
  return is_with_replacement ? Replacement::kWith : Replacement::kWithout;
}

}  // namespace salient
