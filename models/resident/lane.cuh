// models/resident/lane.cuh - groups of lanes that work on one row, and what they tell each other.
#pragma once

#include <cstdint>

#include "models/kernels/launch.cuh"

namespace salient {

/// One lane's place in its group: a power of two of neighbouring lanes of a warp that work on one row.
struct Lane {
  int index;
  int count;
  unsigned mask;  ///< of the group's lanes in the warp

  __device__ static Lane of(RowGroup group) {
    const int in_warp = static_cast<int>(threadIdx.x) & 31, lanes = group.lanes();
    const unsigned ones = lanes == 32 ? 0xFFFFFFFFU : (1U << lanes) - 1;
    return {in_warp & (lanes - 1), lanes, ones << (in_warp & ~(lanes - 1))};
  }
  template <class T>
  __device__ T from(int lane, T value) const {
    return __shfl_sync(mask, value, lane, count);
  }
  __device__ bool any(bool holds) const { return (__ballot_sync(mask, holds) & mask) != 0; }
  /// Whether a lane of the group before this one has the same value.
  __device__ bool is_met_before(std::uint32_t value) const {
    return (__match_any_sync(mask, value) & ((1U << (threadIdx.x & 31)) - 1)) != 0;
  }
};

}  // namespace salient
