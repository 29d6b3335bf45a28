// sampler/sampling_rule.h - which neighbours a batch keeps: how many at each hop, and how they are drawn.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/enum_names.h"
#include "core/philox.h"

namespace salient {

inline constexpr int kAllNeighbors = -1;

/// What "fanout k" means for a destination of degree d. kAllNeighbors keeps each entry of the row once by every
/// draw, but those of weight 0 by kWeighted.
enum class Draw : std::uint8_t {
  kUniform,          ///< min(k, d) distinct entries, every subset equally likely; number i decides Floyd's step i
  kWithReplacement,  ///< k independent entries, number i the i-th; none if d = 0, as there is nothing to draw from
  kLabor,            ///< min(k, d) entries, those whose neighbours have the smallest shared_number(), in the row's
                     ///< order; of equal numbers the lowest id, of equal ids the first. Each has the same chance as by
                     ///< kUniform, but rows that share neighbours choose alike, so a batch meets fewer nodes
  kWeighted,         ///< of the entries whose weight is above 0 min(k, their number), those with the smallest
                     ///< race_length() / weight, in the row's order; of equal ones the first. That is a draw without
                     ///< replacement, each time with chances in proportion to the weights of what is left
};

constexpr auto names_of(Draw) {
  return std::to_array<EnumName<Draw>>({{Draw::kUniform, "uniform"},
                                        {Draw::kWithReplacement, "with-replacement"},
                                        {Draw::kLabor, "labor"},
                                        {Draw::kWeighted, "weighted"}});
}

/// The neighbours that a message-flow graph keeps.
struct SamplingRule {
  std::vector<int> fanouts{};  ///< [L] kept per destination, the seeds' own hop first; each in [1, 2^16), or
                               ///< kAllNeighbors
  Draw draw = Draw::kUniform;  ///< of all hops
  /// Of a typed graph: [relations][L] instead of `fanouts`, which then only say how many hops there are; 0 is possible,
  /// too. Empty = `fanouts` for every relation.
  std::vector<std::vector<int>> relation_fanouts{};

  int fanout_of(std::size_t relation, std::size_t hop) const {
    return relation_fanouts.empty() ? fanouts[hop] : relation_fanouts[relation][hop];
  }
  bool operator==(const SamplingRule&) const = default;
};

/// Whether a sampler takes these: at least one, each in [1, 2^16) or kAllNeighbors.
inline bool are_fanouts(std::span<const int> fanouts) {
  return !fanouts.empty() &&
         std::ranges::all_of(fanouts, [](int f) { return f == kAllNeighbors || (f >= 1 && f < 1 << 16); });
}

/// The same of those of relations.
inline bool are_relation_fanouts(const SamplingRule& rule) {
  return std::ranges::all_of(rule.relation_fanouts, [&](const std::vector<int>& fanouts) {
    return fanouts.size() == rule.fanouts.size() &&
           std::ranges::all_of(fanouts, [](int f) { return f >= kAllNeighbors && f < 1 << 16; });
  });
}

/// What stands in the place of the hop's number in all draws for slot k of a node of a typed graph: slot 0 draws what a
/// plain graph draws. @param hop  below 2^16
SALIENT_HOST_DEVICE constexpr std::uint32_t word_of_slot(std::uint32_t hop, std::uint32_t slot) {
  return hop + 65536 * slot;
}

/// Whether a fanout is kept in full however short the row is, if it has entries.
constexpr bool keeps_fanout_of_any_row(int fanout, Draw draw) {
  return draw == Draw::kWithReplacement && fanout != kAllNeighbors;
}

}  // namespace salient
