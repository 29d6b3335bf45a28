// sampler/link_rule.h - what a batch of links has beside the links: negatives, and what it must not see.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/enum_names.h"
#include "core/types.h"

namespace salient {

/// Which end of a link its negatives replace.
enum class CorruptedEnd : std::uint8_t {
  kDestination,
  kBoth,  ///< negatives of even number the destination, the others the source
};

constexpr auto names_of(CorruptedEnd) {
  return std::to_array<EnumName<CorruptedEnd>>({{CorruptedEnd::kDestination, "dst"}, {CorruptedEnd::kBoth, "both"}});
}

/// Which nodes stand for the end that negatives replace.
enum class NegativeSampler : std::uint8_t {
  kUniform,  ///< all alike
  kDegree,   ///< in proportion to degree^0.75, the entries of a node's row; those without entries are never drawn
  kInBatch,  ///< the ends, on the same side, of the other links of the batch of all ranks, all alike
  kJoint,    ///< uniform, and the same K nodes for all links of a batch
  kGiven,    ///< those that a data set comes with, hard ones: of the link, or pairs of all links; all alike
};

constexpr auto names_of(NegativeSampler) {
  return std::to_array<EnumName<NegativeSampler>>({{NegativeSampler::kUniform, "uniform"},
                                                   {NegativeSampler::kDegree, "degree"},
                                                   {NegativeSampler::kInBatch, "in-batch"},
                                                   {NegativeSampler::kJoint, "joint"},
                                                   {NegativeSampler::kGiven, "given"}});
}

/// Which entries of the graph a batch does not see.
enum class ExcludedEntries : std::uint8_t {
  kPair,  ///< all between the ends of its links, in both directions, of a relation and its reverse
  kNone,  ///< it sees the links that it is to predict
};

constexpr auto names_of(ExcludedEntries) {
  return std::to_array<EnumName<ExcludedEntries>>({{ExcludedEntries::kPair, "pair"}, {ExcludedEntries::kNone, "none"}});
}

/// The most negatives of a link, so that those that are drawn again have numbers below 2^18.
inline constexpr int kMaxNegatives = (1 << 14) - 1;

struct LinkRule {
  int negatives = 1;  ///< of each link, 1 to kMaxNegatives
  NegativeSampler sampler = NegativeSampler::kUniform;
  CorruptedEnd corrupt = CorruptedEnd::kDestination;
  bool is_strict = false;  ///< a negative that is an entry of the graph, or a node with itself, is drawn again
  ExcludedEntries exclude = ExcludedEntries::kPair;

  bool operator==(const LinkRule&) const = default;
};

/// Negatives that a data set comes with, for NegativeSampler::kGiven. Borrows them.
struct GivenEnds {
  std::span<const NodeId> destinations{};  ///< [n, K] of each link; or
  std::span<const NodeId> pairs{};         ///< [m, 2] of all links
  std::size_t of_link = 0;                 ///< K
};

}  // namespace salient
