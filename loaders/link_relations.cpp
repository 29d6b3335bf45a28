// loaders/link_relations.cpp - see link_relations.h.
#include "loaders/link_relations.h"

#include <cstddef>
#include <cstdint>

namespace salient {

LinkRelations link_relations_of(const Dataset& dataset, std::size_t split) {
  LinkRelations relations{.of_links = dataset.links[split].relations};
  for (const Relation& relation : dataset.types.relations)
    relations.all.push_back({.src = static_cast<std::uint32_t>(relation.src),
                             .dst = static_cast<std::uint32_t>(relation.dst),
                             .slot = relation.slot});
  for (const Relation& relation : dataset.types.relations)
    if (relation.reverse_of) relations.all[static_cast<std::size_t>(*relation.reverse_of)].reverse_slot = relation.slot;
  return relations;
}

}  // namespace salient
