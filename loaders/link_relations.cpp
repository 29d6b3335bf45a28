// loaders/link_relations.cpp - see link_relations.h.
#include "loaders/link_relations.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace salient {
namespace {

/// The number of the relation that `reverse` is the other way round of.
std::optional<std::size_t> forward_of(const Relation& reverse, const std::vector<Relation>& relations) {
  if (reverse.reverse_of) return static_cast<std::size_t>(*reverse.reverse_of);
  const auto found = std::ranges::find_if(relations, [&](const Relation& forward) {
    return forward.src == reverse.dst && forward.dst == reverse.src && reverse.name == "rev_" + forward.name;
  });
  if (found == relations.end()) return std::nullopt;
  return static_cast<std::size_t>(found - relations.begin());
}

}  // namespace

LinkRelations link_relations_of(const Dataset& dataset, std::span<const std::uint16_t> of_links) {
  const std::vector<Relation>& relations = dataset.types.relations;
  LinkRelations linked{.of_links = of_links};
  for (const Relation& relation : relations)
    linked.all.push_back({.src = static_cast<std::uint32_t>(relation.src),
                          .dst = static_cast<std::uint32_t>(relation.dst),
                          .slot = relation.slot});
  for (std::size_t r = 0; r < relations.size(); ++r) {
    const std::optional<std::size_t> forward = forward_of(relations[r], relations);
    if (!forward) continue;
    linked.all[*forward].reverse_slot = relations[r].slot;
    linked.all[r].reverse_slot = relations[*forward].slot;
  }
  return linked;
}

}  // namespace salient
