// engine/train/evaluation_negatives.cpp - see evaluation_negatives.h.
#include "engine/train/evaluation_negatives.h"

#include <cstdint>

#include "loaders/link_relations.h"

namespace salient {

EvaluationNegatives::EvaluationNegatives(const Dataset& dataset, std::size_t split, const LinkRule& rule)
    : links_(dataset.links[split]),
      given_(open_negatives(dataset, split)),
      uniform_(dataset.graph, rule, links_.ends, {}, link_relations_of(dataset, links_.relations)) {
  for (const std::size_t count : {given_.num_destinations, given_.num_sources})
    if (count > 0) groups_.push_back(count);
  if (given_.empty()) groups_.push_back(static_cast<std::size_t>(rule.negatives));
  for (const std::size_t count : groups_) of_link_ += count;
}

NodePair EvaluationNegatives::negative(std::size_t i, std::size_t j) const {
  if (given_.empty())
    return uniform_.of(BatchKey{}, static_cast<std::uint32_t>(i), {links_.source(i), links_.destination(i)},
                       static_cast<int>(j));
  const auto [source, destination] = given_.negative(links_, i, j);
  return {source, destination};
}

}  // namespace salient
