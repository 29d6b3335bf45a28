// store/link_table.h - links that are to be predicted: triples of a knowledge graph, or edges kept aside.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "core/types.h"

namespace salient {

/// The links of one split. Borrows them. Of a graph's entries the training links, and their reverses, are all there is;
/// of one whose links have times the links of all splits, each with its time.
struct LinkTable {
  std::span<const NodeId> ends{};              ///< [n, 2] source and destination, ids of the one space
  std::span<const std::uint16_t> relations{};  ///< [n] of a typed graph alone: numbers of relations of the schema; none
                                               ///< of them is a reverse
  std::span<const std::int64_t> times{};  ///< [n] of has_link_times, in the unit of the entries' times: when each is
                                          ///< asked for

  std::size_t size() const { return ends.size() / 2; }
  NodeId source(std::size_t i) const { return ends[2 * i]; }
  NodeId destination(std::size_t i) const { return ends[2 * i + 1]; }
};

inline constexpr std::size_t kTrainLinks = 0, kValidLinks = 1, kTestLinks = 2;
using LinkSplits = std::array<LinkTable, 3>;

}  // namespace salient
