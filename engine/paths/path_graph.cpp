// engine/paths/path_graph.cpp - see path_graph.h.
#include "engine/paths/path_graph.h"

#include <numeric>

#include "core/error.h"

namespace salient {

PathGraph make_path_graph(const LinkTable& links, std::size_t num_nodes,
                          std::span<const std::optional<std::uint32_t>> reverses) {
  PathGraph graph;
  graph.reverse_of.resize(reverses.size());
  for (std::size_t r = 0; r < reverses.size(); ++r)
    if (reverses[r]) {
      graph.reverse_of[r] = *reverses[r];
      graph.reverse_of[*reverses[r]] = static_cast<std::uint32_t>(r);
    }
  graph.begin.assign(num_nodes + 1, 0);
  for (const NodeId end : links.ends) ++graph.begin[end + 1];
  std::partial_sum(graph.begin.begin(), graph.begin.end(), graph.begin.begin());
  graph.entries.resize(2 * links.size());
  graph.link_of.resize(2 * links.size());
  std::vector<std::size_t> next(graph.begin.begin(), graph.begin.end() - 1);
  const auto add = [&](NodeId to, const PathEntry& entry, std::size_t link) {
    const std::size_t at = next[to]++;
    graph.entries[at] = entry;
    graph.link_of[at] = static_cast<std::uint32_t>(link);
  };
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::uint32_t relation = links.relations[i];
    if (!reverses[relation])
      fail(ErrorKind::kUsage, "relation " + std::to_string(relation) +
                                  " has no reverse, which paths follow: the data set was prepared without reverses");
    add(links.destination(i), {links.source(i), relation}, i);
    add(links.source(i), {links.destination(i), *reverses[relation]}, i);
  }
  return graph;
}

PathGraph without_links(const PathGraph& graph, std::span<const NodeId> links) {
  std::vector<bool> is_left_out(graph.entries.size() / 2);
  for (const NodeId link : links) is_left_out[link] = true;
  PathGraph rest;
  rest.reverse_of = graph.reverse_of;
  rest.begin.reserve(graph.begin.size());
  rest.entries.reserve(graph.entries.size());
  rest.link_of.reserve(graph.entries.size());
  for (std::size_t v = 0; v < graph.num_nodes(); ++v) {
    for (std::size_t e = graph.begin[v]; e < graph.begin[v + 1]; ++e)
      if (!is_left_out[graph.link_of[e]]) {
        rest.entries.push_back(graph.entries[e]);
        rest.link_of.push_back(graph.link_of[e]);
      }
    rest.begin.push_back(rest.entries.size());
  }
  return rest;
}

}  // namespace salient
