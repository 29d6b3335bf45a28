// core/device_kind.h - the two kinds of devices that a model computes on.
#pragma once

#include <array>
#include <cstdint>

#include "core/enum_names.h"

namespace salient {

enum class DeviceKind : std::uint8_t { kCpu, kCuda };

constexpr auto names_of(DeviceKind) {
  return std::to_array<EnumName<DeviceKind>>({{DeviceKind::kCpu, "cpu"}, {DeviceKind::kCuda, "cuda"}});
}

}  // namespace salient
