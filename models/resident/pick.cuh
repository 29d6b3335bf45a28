// models/resident/pick.cuh - which entries of a row a hop keeps, a lane per entry: as the samplers draw them.
#pragma once

#include <cstdint>

#include "models/resident/lane.cuh"
#include "sampler/draws.h"
#include "sampler/sampling_rule.h"

namespace salient {

/// How many entries a row of `degree` keeps; Draw says what that means.
__device__ inline std::uint32_t num_kept(std::uint32_t degree, std::uint32_t fanout, Draw draw) {
  if (draw == Draw::kWithReplacement) return degree == 0 ? 0 : fanout;
  return min(degree, fanout);
}

/// The position in its row of the entry that this lane keeps, if its index is below `kept`; all lanes of the group
/// call it.
/// @param kept  num_kept(), at most the lanes of the group
__device__ inline std::uint32_t pick(Draws draws, std::uint32_t degree, std::uint32_t kept, Draw draw, Lane lane) {
  const auto k = static_cast<std::uint32_t>(lane.index);
  if (draw == Draw::kWithReplacement) return k < kept ? draws.below(k, degree) : 0;
  if (kept == degree) return k;
  // Floyd, see sampler/neighbor_sampler.cpp. The draws do not depend on each other, only what is made of them.
  // A choice is taken if an earlier lane has made it, or if it is the last position of an earlier lane whose own choice
  // was taken. Lanes without an entry come last, where no other sees their choice, and have no rival.
  const std::uint32_t last = degree - kept + k, choice = k < kept ? draws.below(k, last + 1) : 0;
  const std::uint32_t rival = choice - (degree - kept);  // the lane with that last position, if it is below k
  const bool has_rival = rival < k;
  bool is_taken = lane.is_met_before(choice);
  for (bool has_changed = true; has_changed;) {
    const bool is_rival_taken = lane.from(has_rival ? static_cast<int>(rival) : 0, is_taken) && has_rival;
    has_changed = lane.any(is_rival_taken && !is_taken);
    is_taken = is_taken || is_rival_taken;
  }
  return is_taken ? last : choice;
}

/// The same by one thread: positions[k] is that of entry k < kept; the others are of no meaning.
template <int kMaxKept>
__device__ __forceinline__ void pick_all(Draws draws, std::uint32_t degree, std::uint32_t kept, Draw draw,
                                         std::uint32_t (&positions)[kMaxKept]) {
#pragma unroll
  for (std::uint32_t k = 0; k < kMaxKept; ++k) {
    const std::uint32_t last = degree - kept + k;
    const std::uint32_t choice = draws.below(k, draw == Draw::kWithReplacement ? degree : last + 1);
    positions[k] = draw == Draw::kUniform && kept == degree ? k : choice;
#pragma unroll
    for (std::uint32_t turn = 0; turn < k; ++turn)
      if (draw == Draw::kUniform && kept < degree && positions[turn] == choice) positions[k] = last;
  }
}

}  // namespace salient
