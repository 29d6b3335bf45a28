// models/products/activation_type.h - how activations and gradients lie in memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/philox.h"

namespace salient {

/// Sums are f32 in each case. kF16 is for predictions alone: gradients need the range of bf16.
enum class ActivationType : std::uint8_t { kF32, kBf16, kF16 };

constexpr std::size_t size_of(ActivationType type) { return type == ActivationType::kF32 ? 4 : 2; }

/// A multiple of 8, which 16-byte words and tensor cores want.
SALIENT_HOST_DEVICE constexpr std::int64_t padded(std::int64_t width) { return (width + 7) / 8 * 8; }

}  // namespace salient
