// models/resident/pick.cuh - which entries of a row a hop keeps, a lane per entry: as the samplers draw them.
#pragma once

#include <cstdint>

#include "models/kernels/launch.cuh"
#include "sampler/device_hop.h"

namespace salient {

/// How many entries a row of `degree` keeps; Replacement says what that means.
__device__ inline std::uint32_t num_kept(std::uint32_t degree, std::uint32_t fanout, Replacement replacement) {
  if (replacement == Replacement::kWith) return degree == 0 ? 0 : fanout;
  return min(degree, fanout);
}

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
};

/// The position in its row of the entry that this lane keeps, if its index is below `kept`; all lanes of the group
/// call it.
/// @param kept  num_kept(), at most the lanes of the group
__device__ inline std::uint32_t pick(Draws draws, std::uint32_t degree, std::uint32_t kept, Replacement replacement,
                                     Lane lane) {
  const auto k = static_cast<std::uint32_t>(lane.index);
  if (replacement == Replacement::kWith) return k < kept ? draws.below(k, degree) : 0;
  if (kept == degree) return k;
  // Floyd, see sampler/neighbor_sampler.cpp. The draws do not depend on each other, only what is made of them.
  const std::uint32_t last = degree - kept + k, choice = k < kept ? draws.below(k, last + 1) : 0;
  std::uint32_t position = choice;
  for (std::uint32_t turn = 1; turn < kept; ++turn) {
    const std::uint32_t wanted = lane.from(static_cast<int>(turn), choice);
    const bool is_taken = lane.any(k < turn && position == wanted);
    if (k == turn && is_taken) position = last;
  }
  return position;
}

/// The same by one thread: positions[k] is that of entry k < kept; the others are of no meaning.
template <int kMaxKept>
__device__ __forceinline__ void pick_all(Draws draws, std::uint32_t degree, std::uint32_t kept, Replacement replacement,
                                         std::uint32_t (&positions)[kMaxKept]) {
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxKept; ++k) {
    const std::uint32_t last = degree - kept + k;
    const std::uint32_t choice = draws.below(k, replacement == Replacement::kWith ? degree : last + 1);
    positions[k] = replacement == Replacement::kWithout && kept == degree ? k : choice;
#pragma unroll
    for (std::uint32_t turn = 0; turn < k; ++turn)
      if (replacement == Replacement::kWithout && kept < degree && positions[turn] == choice) positions[k] = last;
  }
}

}  // namespace salient
