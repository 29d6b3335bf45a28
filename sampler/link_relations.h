// sampler/link_relations.h - what the relations of a typed graph's links are between.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace salient {

/// What links of a relation of a typed graph are between.
struct LinkedRelation {
  std::uint32_t src = 0, dst = 0;               ///< node types
  std::uint32_t slot = 0;                       ///< of the destinations
  std::optional<std::uint32_t> reverse_slot{};  ///< of the sources: the slot of the reverse relation, if there is one
};

/// The relations of links, of a typed graph alone.
struct LinkRelations {
  std::vector<LinkedRelation> all{};          ///< [R] of the graph
  std::span<const std::uint16_t> of_links{};  ///< [n] below R; borrowed
};

}  // namespace salient
