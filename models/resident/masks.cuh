// models/resident/masks.cuh - dropout masks of a step for eight neighbouring columns, as models/kernels/dropout.h has
// them.
#pragma once

#include <cstdint>

#include "models/kernels/dropout.h"
#include "models/resident/lane.cuh"
#include "models/resident/operands.h"

namespace salient {

/// @param bits  a byte: which columns stay; they are multiplied by `scale`
__device__ inline void keep(unsigned bits, float scale, float (&values)[8]) {
#pragma unroll
  for (int c = 0; c < 8; ++c) values[c] = (bits >> c & 1) != 0 ? values[c] * scale : 0.0f;
}

/// A TreeDropout with what the header says.
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
    if (!is_none()) keep(kept(node, chunk), mask.scale, values);
  }

  static constexpr int kShared = 4;  ///< rows whose bits are found together

  /// kept() of four rows, a byte each, for the lane's chunk. All lanes of a group call it; `chunk` is lane.index plus a
  /// multiple of lane.count. Of p = 1/2 a Philox block has the bits of sixteen chunks: each lane draws one word, where
  /// a group has enough lanes.
  /// @param node_of  node_of(k): of row k < 4
  template <class NodeOf>
  __device__ unsigned kept_of_four(Lane lane, std::int64_t chunk, NodeOf node_of) const {
    unsigned bytes = 0;
    if (mask.threshold == kHalfOfDraws && lane.count >= 16) {
      const int words = lane.count / kShared, index = lane.index & (words - 1);  // of a row, in the group's chunks
      const NodeId node = node_of(lane.index / words);
      const PhiloxBlock block =
          dropout_bits(mask, node, static_cast<std::uint32_t>((chunk - lane.index) / 16 + index / 4));
      const std::uint32_t low = (index & 1) == 0 ? block.word[0] : block.word[1];
      const std::uint32_t high = (index & 1) == 0 ? block.word[2] : block.word[3];
      const std::uint32_t word = (index & 2) == 0 ? low : high;
#pragma unroll
      for (int k = 0; k < kShared; ++k)
        bytes |= (lane.from(k * words + lane.index / 4, word) >> lane.index % 4 * 8 & 0xFF) << 8 * k;
      return bytes;
    }
#pragma unroll
    for (int k = 0; k < kShared; ++k) bytes |= kept(node_of(k), chunk) << 8 * k;
    return bytes;
  }
};

}  // namespace salient
