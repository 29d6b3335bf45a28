// prepare/importers/timed_links.cpp - see timed_links.h.
#include "prepare/importers/timed_links.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>
#include <span>
#include <string>

#include "core/console/log.h"
#include "core/error.h"
#include "prepare/importers/split.h"
#include "store/link_table.h"

namespace salient {
namespace {

void require_classes(const RawGraph& graph) {
  if (graph.task != Task::kMultiClass)
    fail(ErrorKind::kUsage, graph.source_path + ": links are predicted beside classes of nodes or none, and it has " +
                                words_of(graph.task).of_node);
  require(graph.edge_values.times.size() == graph.sources.size(), "every edge has a time");
  if (graph.sources.size() > std::numeric_limits<NodeId>::max())
    fail(ErrorKind::kUsage, graph.source_path + ": links with times are 2^32 - 1 at most");
  graph.memory.check(graph.sources.size() * (2 * sizeof(NodeId) + sizeof(std::int64_t) + sizeof(NodeId)),
                     graph.source_path);
}

template <class T>
void keep(std::vector<T>& values, const std::vector<NodeId>& edges) {
  if (values.empty()) return;
  for (std::size_t to = 0; to < edges.size(); ++to) values[to] = values[edges[to]];
  values.resize(edges.size());
}

/// Of the edges these alone. @param edges  ascending
void keep_edges(RawGraph& graph, const std::vector<NodeId>& edges) {
  keep(graph.sources, edges);
  keep(graph.destinations, edges);
  keep(graph.edge_values.weights, edges);
  keep(graph.edge_values.times, edges);
  RawFeatures& features = graph.edge_values.features;
  if (features.dim == 0) return;
  const std::size_t row_bytes = static_cast<std::size_t>(features.dim) * size_of(features.type);
  for (std::size_t to = 0; to < edges.size(); ++to)
    if (to != edges[to])
      std::memcpy(features.rows.data() + to * row_bytes, features.rows.data() + edges[to] * row_bytes, row_bytes);
  features.rows.resize(edges.size() * row_bytes);
}

/// The edges that join two nodes, ascending.
std::vector<NodeId> edges_between_nodes(const RawGraph& graph) {
  std::vector<NodeId> edges;
  for (std::size_t e = 0; e < graph.sources.size(); ++e)
    if (graph.sources[e] != graph.destinations[e]) edges.push_back(static_cast<NodeId>(e));
  if (const std::size_t loops = graph.sources.size() - edges.size(); loops > 0)
    log_info(graph.source_path + ": " + std::to_string(loops) + " self loops are no links and are left out");
  if (edges.empty()) fail(ErrorKind::kBadData, graph.source_path + ": no edge between two nodes that could be a link");
  return edges;
}

void add_link(RawGraph& graph, std::size_t split, std::size_t edge) {
  graph.links[split].insert(graph.links[split].end(), {graph.sources[edge], graph.destinations[edge]});
  graph.link_times[split].push_back(graph.edge_values.times[edge]);
}

/// Where parts of these edges, in the order of time, end: none within edges of one time.
std::array<std::size_t, 3> ends_by_time(const RawGraph& graph, const std::vector<NodeId>& order,
                                        const std::vector<double>& fractions) {
  const auto time_at = [&](std::size_t place) { return graph.edge_values.times[order[place]]; };
  std::array<std::size_t, 3> ends = part_ends(order.size(), {fractions[0], fractions[1], fractions[2]});
  for (std::size_t& end : ends)
    while (end > 0 && end < order.size() && time_at(end) == time_at(end - 1)) ++end;
  return ends;
}

/// Links of a split that was read from a file of its own; they become edges, too.
void add_given(RawGraph& graph, GivenLinks& given, std::size_t split) {
  const std::vector<NodeId>& ends = given.ends[split - 1];
  const std::vector<std::int64_t>& times = given.times[split - 1];
  given.num_records[split - 1] = ends.size() / 2;
  std::int64_t latest = std::numeric_limits<std::int64_t>::min();  // of earlier splits
  for (std::size_t earlier = kTrainLinks; earlier < split; ++earlier)
    for (const std::int64_t time : graph.link_times[earlier]) latest = std::max(latest, time);
  for (std::size_t i = 0; i < times.size(); ++i) {
    if (ends[2 * i] == ends[2 * i + 1]) continue;
    if (times[i] < latest)
      fail(ErrorKind::kBadData, given.files[split - 1] + ": link " + std::to_string(i) + " is at " +
                                    std::to_string(times[i]) + ", before the last of an earlier split at " +
                                    std::to_string(latest) + "; splits follow each other in time");
    given.kept[split - 1].push_back(i);
    graph.sources.push_back(ends[2 * i]);
    graph.destinations.push_back(ends[2 * i + 1]);
    graph.edge_values.times.push_back(times[i]);
    add_link(graph, split, graph.sources.size() - 1);
  }
  if (const std::size_t loops = times.size() - given.kept[split - 1].size(); loops > 0)
    log_info(given.files[split - 1] + ": " + std::to_string(loops) + " self loops are no links and are left out");
}

}  // namespace

void split_edges_by_time(RawGraph& graph, const std::vector<double>& fractions) {
  require(fractions.size() == 3, "a split has three parts");
  require_classes(graph);
  std::vector<NodeId> order = edges_between_nodes(graph);
  std::ranges::stable_sort(order, {}, [&](NodeId e) { return graph.edge_values.times[e]; });
  const std::array<std::size_t, 3> ends = ends_by_time(graph, order, fractions);
  if (ends[kTrainLinks] == 0)
    fail(ErrorKind::kBadData, graph.source_path + ": the split of " + std::to_string(order.size()) +
                                  " edges by time leaves none to train on");
  graph.has_links = graph.has_link_times = true;
  std::size_t at = 0;
  for (std::size_t split = 0; split < ends.size(); ++split)
    for (; at < ends[split]; ++at) add_link(graph, split, order[at]);
  if (at < order.size())
    log_warning(graph.source_path + ": the fractions of the split leave out " + std::to_string(order.size() - at) +
                " edges, which are neither links nor entries");
  order.resize(at);
  std::ranges::sort(order);
  keep_edges(graph, order);
}

void take_timed_links(RawGraph& graph, GivenLinks& given) {
  require_classes(graph);
  keep_edges(graph, edges_between_nodes(graph));
  graph.has_links = graph.has_link_times = true;
  for (std::size_t e = 0, count = graph.sources.size(); e < count; ++e) add_link(graph, kTrainLinks, e);
  for (const std::size_t split : {kValidLinks, kTestLinks}) add_given(graph, given, split);
}

}  // namespace salient
