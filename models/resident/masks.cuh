// models/resident/masks.cuh - dropout masks of a step for eight neighbouring columns, as models/kernels/dropout.h has
// them.
#pragma once

#include <cstdint>

#include "models/kernels/dropout.h"
#include "models/resident/operands.h"

namespace salient {

/// A TreeDropout with what the header says; read once per thread.
struct StepMask {
  DropoutMask mask;

  __device__ static StepMask of(const TreeDropout& dropout) {
    if (dropout.threshold == 0) return {};
    return {{dropout.header->seed, dropout.header->global_step, dropout.layer, dropout.threshold, dropout.scale}};
  }
  __device__ bool is_none() const { return mask.threshold == 0; }

  /// Bit c: column 8 * chunk + c is kept.
  __device__ unsigned kept(NodeId node, std::int64_t chunk) const {
    return is_none() ? 0xFF : kept_of_eight(mask, node, static_cast<std::uint32_t>(chunk));
  }
  __device__ void apply(NodeId node, std::int64_t chunk, float (&values)[8]) const {
    if (is_none()) return;
    const unsigned bits = kept(node, chunk);
#pragma unroll
    for (int c = 0; c < 8; ++c) values[c] = (bits >> c & 1) != 0 ? values[c] * mask.scale : 0.0f;
  }
};

}  // namespace salient
