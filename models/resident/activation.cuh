// models/resident/activation.cuh - ReLU and dropout of eight neighbouring columns of a hidden layer.
#pragma once

#include <cstdint>

#include "models/kernels/dropout.h"
#include "models/resident/operands.h"

namespace salient {

/// h = dropout(relu(z)) of eight columns, and which of them were kept and positive.
__device__ inline std::uint8_t activate(const TreeDropout& dropout, const DropoutMask& mask, NodeId node,
                                        std::int64_t chunk, float (&values)[8]) {
  const std::uint32_t kept =
      dropout.threshold > 0 ? kept_of_eight(mask, node, static_cast<std::uint32_t>(chunk)) : 0xFF;
  std::uint8_t bits = 0;
#pragma unroll
  for (std::uint32_t c = 0; c < 8; ++c) {
    // written so that a value that is not a number stays one, as relu leaves it
    const bool is_cut = (kept >> c & 1) == 0 || values[c] <= 0;
    if (!is_cut) bits |= static_cast<std::uint8_t>(1U << c);
    values[c] = is_cut ? 0.0f : values[c] * dropout.scale;
  }
  return bits;
}

}  // namespace salient
