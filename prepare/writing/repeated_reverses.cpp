// prepare/writing/repeated_reverses.cpp - see repeated_reverses.h.
#include "prepare/writing/repeated_reverses.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/console/log.h"
#include "core/error.h"
#include "core/printable.h"

namespace salient {
namespace {

using Ends = std::pair<NodeId, NodeId>;

/// Whether the reverses of a few edges are there: where edges go one way, it takes no memory to know.
bool may_list_both_ways(const NodePairs& pairs) {
  constexpr std::size_t kFew = 64;
  const std::size_t num_edges = pairs.sources.size(), step = num_edges / kFew + 1;
  std::set<Ends> wanted;
  for (std::size_t m = 0; m < num_edges; m += step) wanted.emplace(pairs.destinations[m], pairs.sources[m]);
  const bool has_edges = !wanted.empty();
  for (std::size_t m = 0; m < num_edges && !wanted.empty(); ++m)
    wanted.erase({pairs.sources[m], pairs.destinations[m]});
  return has_edges && wanted.empty();
}

/// Ascending, each once.
std::vector<Ends> distinct(const std::vector<NodeId>& from, const std::vector<NodeId>& to) {
  std::vector<Ends> edges(from.size());
  for (std::size_t m = 0; m < edges.size(); ++m) edges[m] = {from[m], to[m]};
  std::ranges::sort(edges);
  const auto repeats = std::ranges::unique(edges);
  edges.erase(repeats.begin(), repeats.end());
  return edges;
}

bool lists_both_ways(const NodePairs& pairs, const RawGraph& target) {
  if (!may_list_both_ways(pairs)) return false;
  target.memory.check(2 * pairs.sources.size() * sizeof(Ends), target.source_path);
  return distinct(pairs.sources, pairs.destinations) == distinct(pairs.destinations, pairs.sources);
}

}  // namespace

void drop_repeated_reverses(TypedGraph& graph) {
  require(!graph.has_links, "links name relations by their numbers");
  std::vector<Relation>& relations = graph.schema.relations;
  for (std::size_t r = relations.size(); r-- > 0;) {  // reverses are behind what they are reverses of
    if (!relations[r].reverse_of || relations[r].src != relations[r].dst) continue;
    const Relation& forward = relations[static_cast<std::size_t>(*relations[r].reverse_of)];
    if (!lists_both_ways(graph.edges[static_cast<std::size_t>(*relations[r].reverse_of)], graph.target)) continue;
    log_info("relation '" + printable(text_of(graph.schema, forward)) +
             "' has every edge both ways: it is its own reverse, and no other is made");
    relations.erase(relations.begin() + static_cast<std::ptrdiff_t>(r));
    graph.edges.erase(graph.edges.begin() + static_cast<std::ptrdiff_t>(r));
    for (Relation& relation : relations)
      if (relation.reverse_of && *relation.reverse_of > static_cast<int>(r)) --*relation.reverse_of;
  }
  number_slots(graph.schema);
}

}  // namespace salient
