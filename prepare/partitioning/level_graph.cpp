// prepare/partitioning/level_graph.cpp - see level_graph.h.
#include "prepare/partitioning/level_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "core/console/progress.h"
#include "core/host/interrupt.h"
#include "prepare/partitioning/strengths.h"

namespace salient {
namespace {

constexpr int kPasses = 3;
constexpr std::size_t kBlock = 1 << 16;  // nodes between two looks at the clock

/// Numbers the groups that occur from 0, in the order of their first node.
void renumber(std::vector<NodeId>& group) {
  constexpr NodeId kNone = std::numeric_limits<NodeId>::max();
  std::vector<NodeId> number(group.size(), kNone);
  NodeId next = 0;
  for (NodeId& g : group) {
    if (number[g] == kNone) number[g] = next++;
    g = number[g];
  }
}

/// The nodes of each group, one group behind the other. @return where they begin, [groups + 1]
std::vector<std::size_t> sort_by_group(std::span<const NodeId> group, std::size_t num_groups,
                                       std::vector<NodeId>& nodes) {
  std::vector<std::size_t> begin(num_groups + 1);
  for (const NodeId g : group) ++begin[g + std::size_t{1}];
  std::inclusive_scan(begin.begin(), begin.end(), begin.begin());
  std::vector<std::size_t> at(begin.begin(), begin.end() - 1);
  nodes.resize(group.size());
  for (std::size_t v = 0; v < group.size(); ++v) nodes[at[group[v]]++] = static_cast<NodeId>(v);
  return begin;
}

/// Of a typed graph a node's slots lie side by side, so that they are one row; and rows of features differ.
void add_types(const Dataset& dataset, LevelGraph& graph) {
  constexpr std::size_t kBytesOfAWeight = 64;
  const SlotTable& slots = *dataset.slots;
  graph.own_begin.reserve(dataset.num_nodes() + 1);
  for (std::size_t t = 0; t < slots.num_types(); ++t)
    for (std::uint64_t i = 0; i < slots.num_nodes_of(t); ++i) {
      graph.own_begin.push_back(dataset.graph.indptr[slots.slot_begin[t] + i * slots.num_slots[t]]);
      graph.weight[slots.node_begin[t] + i][0] +=
          static_cast<std::uint32_t>(dataset.type_features[t].rows.row_bytes / kBytesOfAWeight);
    }
  graph.own_begin.push_back(dataset.graph.indptr.back());
  graph.begin = graph.own_begin;
}

}  // namespace

WeightSum total_weight(const LevelGraph& graph) {
  WeightSum sum{};
  for (const NodeWeight& weight : graph.weight) add(sum, weight);
  return sum;
}

LevelGraph finest_level(const Dataset& dataset) {
  LevelGraph graph{.begin = dataset.graph.indptr, .other = dataset.graph.indices};
  graph.weight.assign(dataset.num_nodes(), {1, 0, 0});
  if (dataset.slots != nullptr) add_types(dataset, graph);
  for (const NodeId node : dataset.train) graph.weight[node][1] = 1;
  for (const std::span<const NodeId> set : {dataset.valid, dataset.test})
    for (const NodeId node : set) graph.weight[node][2] = 1;
  return graph;
}

LevelGraph contract(const LevelGraph& graph, std::span<const NodeId> group, std::size_t num_groups) {
  std::vector<NodeId> nodes;
  const std::vector<std::size_t> begin = sort_by_group(group, num_groups, nodes);
  LevelGraph coarse;
  coarse.weight.resize(num_groups);
  coarse.own_begin.push_back(0);
  Strengths strengths(num_groups);
  for (std::size_t g = 0; g < num_groups; ++g) {
    for (std::size_t i = begin[g]; i < begin[g + 1]; ++i) {
      for (std::size_t k = 0; k < kNumWeights; ++k) coarse.weight[g][k] += graph.weight[nodes[i]][k];
      graph.for_each(nodes[i], [&](NodeId u, std::uint32_t strength) {
        if (group[u] != g) strengths.add(group[u], strength);
      });
    }
    for (const NodeId other : strengths.found()) {
      coarse.own_other.push_back(other);
      constexpr std::uint64_t kMost = std::numeric_limits<std::uint32_t>::max();
      coarse.own_strength.push_back(static_cast<std::uint32_t>(std::min(kMost, strengths.of(other))));
    }
    strengths.clear();
    coarse.own_begin.push_back(static_cast<EdgeOffset>(coarse.own_other.size()));
  }
  coarse.begin = coarse.own_begin;
  coarse.other = coarse.own_other;
  coarse.strength = coarse.own_strength;
  return coarse;
}

std::vector<NodeId> find_groups(const LevelGraph& graph, const WeightSum& limit) {
  const std::size_t num_nodes = graph.num_nodes();
  std::vector<NodeId> group(num_nodes);
  std::iota(group.begin(), group.end(), NodeId{0});
  std::vector<WeightSum> load(num_nodes);
  for (std::size_t v = 0; v < num_nodes; ++v) add(load[v], graph.weight[v]);
  Strengths strengths(num_nodes);
  Progress progress("grouping nodes", num_nodes * kPasses, "nodes");
  for (std::size_t step = 0; step < num_nodes * kPasses; ++step) {
    const std::size_t v = step % num_nodes;
    graph.for_each(v, [&](NodeId u, std::uint32_t strength) {
      if (u != v) strengths.add(group[u], strength);
    });
    NodeId best = group[v];
    for (const NodeId g : strengths.found())
      if (strengths.of(g) > strengths.of(best) && has_room(load[g], graph.weight[v], limit)) best = g;
    strengths.clear();
    if (best != group[v]) {
      subtract(load[group[v]], graph.weight[v]);
      add(load[best], graph.weight[v]);
      group[v] = best;
    }
    if (step % kBlock == kBlock - 1) {
      progress.add(kBlock);
      stop_if_interrupted();
    }
  }
  renumber(group);
  return group;
}

}  // namespace salient
