// prepare/partitioning/level_graph.h - a graph whose nodes stand for groups of a finer graph's nodes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/types.h"
#include "store/dataset.h"

namespace salient {

/// What parts balance: nodes, of a typed graph by their rows of features; training nodes, validation and test nodes.
inline constexpr std::size_t kNumWeights = 3;
using NodeWeight = std::array<std::uint32_t, kNumWeights>;
using WeightSum = std::array<std::uint64_t, kNumWeights>;

inline void add(WeightSum& sum, const NodeWeight& weight) {
  for (std::size_t i = 0; i < kNumWeights; ++i) sum[i] += weight[i];
}
inline void subtract(WeightSum& sum, const NodeWeight& weight) {
  for (std::size_t i = 0; i < kNumWeights; ++i) sum[i] -= weight[i];
}
/// Whether `load` may take `weight` in, where it matters.
inline bool has_room(const WeightSum& load, const NodeWeight& weight, const WeightSum& limit) {
  for (std::size_t i = 0; i < kNumWeights; ++i)
    if (weight[i] > 0 && load[i] + weight[i] > limit[i]) return false;
  return true;
}

/// The finest level borrows the data set's arrays; others own theirs. Moves, never copies.
struct LevelGraph {
  std::span<const EdgeOffset> begin{};        ///< [n + 1]
  std::span<const NodeId> other{};            ///< [entries]
  std::span<const std::uint32_t> strength{};  ///< [entries] entries that each stands for; empty: 1
  std::vector<NodeWeight> weight{};           ///< [n]

  std::vector<EdgeOffset> own_begin{};
  std::vector<NodeId> own_other{};
  std::vector<std::uint32_t> own_strength{};

  std::size_t num_nodes() const { return weight.size(); }
  /// Calls visit(neighbour, strength) for every entry of row v.
  template <class Visit>
  void for_each(std::size_t v, Visit&& visit) const {
    for (auto e = static_cast<std::size_t>(begin[v]); e < static_cast<std::size_t>(begin[v + 1]); ++e)
      visit(other[e], strength.empty() ? 1U : strength[e]);
  }
};

WeightSum total_weight(const LevelGraph& graph);

LevelGraph finest_level(const Dataset& dataset);

/// Nodes of one group become one node; entries inside a group vanish.
/// @param group  [n] below num_groups, each of which has a node
LevelGraph contract(const LevelGraph& graph, std::span<const NodeId> group, std::size_t num_groups);

/// Groups nodes that are joined by many entries: each in turn goes to the group that most of its entries lead to and
/// that has room for it.
///
/// @param limit  of a group
/// @return [n] numbers from 0 without gaps
/// Cost:      a few passes over the graph, on one core; the result does not depend on threads.
/// Algorithm: size-constrained label propagation (Meyerhenke, Sanders, Schulz, "Partitioning complex networks via
///            size-constrained clustering", SEA 2014).
std::vector<NodeId> find_groups(const LevelGraph& graph, const WeightSum& limit);

}  // namespace salient
