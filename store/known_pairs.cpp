// store/known_pairs.cpp - see known_pairs.h.
#include "store/known_pairs.h"

#include <algorithm>

#include "store/plain_link_checks.h"

namespace salient {

KnownPairs::KnownPairs(const Dataset& dataset) : dataset_(dataset) {
  const bool is_typed = dataset.types.is_typed();
  for (const std::size_t split : {kValidLinks, kTestLinks}) {
    const LinkTable& links = dataset.links[split];
    for (std::size_t i = 0; i < links.size(); ++i) {
      const std::uint32_t relation = is_typed ? links.relations[i] : 0;
      kept_aside_.push_back({relation, links.source(i), links.destination(i)});
      if (!is_typed && dataset.is_symmetric) kept_aside_.push_back({relation, links.destination(i), links.source(i)});
    }
  }
  std::ranges::sort(kept_aside_);
}

bool KnownPairs::is_entry(std::uint32_t relation, NodeId source, NodeId destination) const {
  if (!dataset_.types.is_typed()) return is_plain_entry(dataset_, source, destination);
  const Relation& of = dataset_.types.relations[relation];
  const auto dst = static_cast<std::size_t>(of.dst);
  const auto& begin = dataset_.slots->node_begin;
  if (destination < begin[dst] || destination >= begin[dst + 1]) return false;
  return std::ranges::binary_search(dataset_.graph.row(dataset_.slots->row_of(dst, destination, of.slot)), source);
}

bool KnownPairs::has(std::uint32_t relation, NodeId source, NodeId destination) const {
  const std::uint32_t of = dataset_.types.is_typed() ? relation : 0;
  return is_entry(of, source, destination) || std::ranges::binary_search(kept_aside_, Triple{of, source, destination});
}

}  // namespace salient
