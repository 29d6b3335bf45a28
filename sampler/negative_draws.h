// sampler/negative_draws.h - which draw decides a negative: the contract between host and device.
#pragma once

#include <cstdint>

#include "core/philox.h"
#include "sampler/draws.h"
#include "sampler/link_rule.h"

namespace salient {

/// A link, or a pair that is none.
struct NodePair {
  NodeId source = 0, destination = 0;
  bool operator==(const NodePair&) const = default;
};

/// In the place of the hop of Draws, which no sampler uses; in the place of the destination is the link's number.
inline constexpr std::uint32_t kNegativeDraws = 0xFFFFFFFE;
/// How often a negative is drawn at most.
inline constexpr std::uint32_t kNegativeAttempts = 16;

/// Whether negative j of a link replaces its source.
SALIENT_HOST_DEVICE constexpr bool replaces_source(CorruptedEnd corrupt, std::uint32_t j) {
  return corrupt == CorruptedEnd::kBoth && j % 2 == 1;
}

/// Draws negative j of a link, again while it is refused and attempts are left.
/// @param redraw  (number of the draw)    @param is_refused  ()
template <class Redraw, class IsRefused>
SALIENT_HOST_DEVICE void draw_negative(std::uint32_t j, std::uint32_t negatives, const Redraw& redraw,
                                       const IsRefused& is_refused) {
  for (std::uint32_t attempt = 0; attempt < kNegativeAttempts; ++attempt) {
    redraw(j + attempt * negatives);
    if (!is_refused()) return;
  }
}

}  // namespace salient
