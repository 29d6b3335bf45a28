// prepare/partitioning/refine_parts.cpp - see refine_parts.h.
#include "prepare/partitioning/refine_parts.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/console/progress.h"
#include "core/host/interrupt.h"
#include "prepare/partitioning/strengths.h"

namespace salient {
namespace {

constexpr double kSlack = 1.03;  // of a part beyond its share
constexpr int kMovePasses = 8;
constexpr std::size_t kMoveBlock = 1 << 16;
constexpr std::size_t kTrials = 8;
constexpr std::size_t kTrialEntries = 1 << 22;  // beyond that many one trial is enough

/// The loads of all parts, and the rules for a move.
class Balance {
 public:
  Balance(const LevelGraph& graph, int num_parts) : load_(static_cast<std::size_t>(num_parts)) {
    const WeightSum total = total_weight(graph);
    for (std::size_t i = 0; i < kNumWeights; ++i) {
      const double share = static_cast<double>(total[i]) / num_parts;
      limit_[i] = static_cast<std::uint64_t>(std::ceil(share * kSlack));
    }
  }

  void put(NodeId part, const NodeWeight& weight) { add(load_[part], weight); }
  void take(NodeId part, const NodeWeight& weight) { subtract(load_[part], weight); }
  bool has_room(NodeId part, const NodeWeight& weight) const { return salient::has_room(load_[part], weight, limit_); }
  std::uint64_t nodes_of(NodeId part) const { return load_[part][0]; }

  /// How a move changes what the part has beyond its limits, in shares of these: at most 0, or at least 0.
  double excess_after_leaving(NodeId part, const NodeWeight& weight) const {
    WeightSum load = load_[part];
    subtract(load, weight);
    return excess(load) - excess(load_[part]);
  }
  double excess_after_joining(NodeId part, const NodeWeight& weight) const {
    WeightSum load = load_[part];
    add(load, weight);
    return excess(load) - excess(load_[part]);
  }

  /// How full the part is of what the node has, from 0; 1 is its limit.
  double fullness(NodeId part, const NodeWeight& weight) const {
    double most = 0;
    for (std::size_t i = 0; i < kNumWeights; ++i)
      if (weight[i] > 0) most = std::max(most, share_of_limit(load_[part], i));
    return most;
  }

  /// Any part with room, found where the last one was; else the one that the node fits best.
  NodeId any_part(const NodeWeight& weight) {
    for (std::size_t tried = 0; tried < load_.size(); ++tried, cursor_ = (cursor_ + 1) % load_.size())
      if (has_room(static_cast<NodeId>(cursor_), weight)) return static_cast<NodeId>(cursor_);
    NodeId best = 0;
    for (NodeId part = 1; part < load_.size(); ++part)
      if (excess_after_joining(part, weight) < excess_after_joining(best, weight)) best = part;
    return best;
  }

 private:
  double share_of_limit(const WeightSum& load, std::size_t i) const {
    return static_cast<double>(load[i]) / static_cast<double>(std::max<std::uint64_t>(1, limit_[i]));
  }
  double excess(const WeightSum& load) const {
    double sum = 0;
    for (std::size_t i = 0; i < kNumWeights; ++i) sum += std::max(0.0, share_of_limit(load, i) - 1);
    return sum;
  }

  std::vector<WeightSum> load_;
  WeightSum limit_{};
  std::size_t cursor_ = 0;
};

/// All nodes, neighbours soon after one another, beginning with `first`.
std::vector<NodeId> breadth_first(const LevelGraph& graph, std::size_t first) {
  std::vector<NodeId> order;
  std::vector<bool> is_known(graph.num_nodes());
  const auto meet = [&](std::size_t v) {
    if (is_known[v]) return;
    is_known[v] = true;
    order.push_back(static_cast<NodeId>(v));
  };
  for (std::size_t i = 0, done = 0; i < graph.num_nodes(); ++i) {
    meet((first + i) % graph.num_nodes());
    for (; done < order.size(); ++done) graph.for_each(order[done], [&](NodeId u, std::uint32_t) { meet(u); });
  }
  return order;
}

Owners deal(const LevelGraph& graph, const std::vector<NodeId>& order, int num_parts) {
  Owners owner(graph.num_nodes());
  std::vector<bool> is_dealt(graph.num_nodes());
  Balance balance(graph, num_parts);
  Strengths strengths(static_cast<std::size_t>(num_parts));
  for (const NodeId v : order) {
    graph.for_each(v, [&](NodeId u, std::uint32_t strength) {
      if (is_dealt[u]) strengths.add(owner[u], strength);
    });
    double best_score = 0;
    NodeId best = 0;
    for (const NodeId part : strengths.found()) {
      const double score = static_cast<double>(strengths.of(part)) * (1 - balance.fullness(part, graph.weight[v]));
      if (score > best_score && balance.has_room(part, graph.weight[v])) best_score = score, best = part;
    }
    if (best_score == 0) best = balance.any_part(graph.weight[v]);
    strengths.clear();
    owner[v] = static_cast<std::uint16_t>(best);
    is_dealt[v] = true;
    balance.put(best, graph.weight[v]);
  }
  return owner;
}

std::uint64_t cut_of(const LevelGraph& graph, const Owners& owner) {
  std::uint64_t cut = 0;
  for (std::size_t v = 0; v < graph.num_nodes(); ++v)
    graph.for_each(v, [&](NodeId u, std::uint32_t strength) { cut += owner[u] == owner[v] ? 0 : strength; });
  return cut;
}

/// Where a node goes that is in `from`, possibly nowhere else. A node that overfills its part goes where it does less
/// harm, even to a part without room: that one then gives up nodes of another kind.
NodeId best_part(Balance& balance, const Strengths& strengths, NodeId from, const NodeWeight& weight) {
  const double relief = -balance.excess_after_leaving(from, weight);
  const auto may_go_to = [&](NodeId part) {
    return relief > 0 ? balance.excess_after_joining(part, weight) < relief : balance.has_room(part, weight);
  };
  NodeId best = from;
  for (const NodeId part : strengths.found()) {
    if (part == from || !may_go_to(part)) continue;
    const bool is_first_way_out = relief > 0 && best == from;
    const bool is_stronger = strengths.of(part) > strengths.of(best);
    const bool is_emptier =
        strengths.of(part) == strengths.of(best) && balance.nodes_of(part) + weight[0] < balance.nodes_of(best);
    if (is_first_way_out || is_stronger || is_emptier) best = part;
  }
  if (relief == 0 || best != from) return best;
  const NodeId any = balance.any_part(weight);
  return may_go_to(any) ? any : from;
}

}  // namespace

Owners deal_parts(const LevelGraph& graph, int num_parts) {
  const std::size_t num_nodes = graph.num_nodes();
  const std::size_t num_trials = graph.other.size() > kTrialEntries ? 1 : std::min(kTrials, num_nodes);
  Owners best(num_nodes);
  std::uint64_t least = 0;
  for (std::size_t trial = 0; trial < num_trials; ++trial) {
    Owners owner = deal(graph, breadth_first(graph, trial * num_nodes / num_trials), num_parts);
    refine_parts(graph, num_parts, owner);
    const std::uint64_t cut = cut_of(graph, owner);
    if (trial == 0 || cut < least) least = cut, best = std::move(owner);
  }
  return best;
}

void refine_parts(const LevelGraph& graph, int num_parts, Owners& owner) {
  const std::size_t num_nodes = graph.num_nodes();
  Balance balance(graph, num_parts);
  for (std::size_t v = 0; v < num_nodes; ++v) balance.put(owner[v], graph.weight[v]);
  Strengths strengths(static_cast<std::size_t>(num_parts));
  Progress progress("moving nodes between parts", num_nodes * kMovePasses, "nodes");
  for (int pass = 0; pass < kMovePasses; ++pass) {
    std::size_t num_moved = 0;
    for (std::size_t v = 0; v < num_nodes; ++v) {
      graph.for_each(v, [&](NodeId u, std::uint32_t strength) {
        if (u != v) strengths.add(owner[u], strength);
      });
      const NodeId from = owner[v], to = best_part(balance, strengths, from, graph.weight[v]);
      strengths.clear();
      if (to != from) {
        balance.take(from, graph.weight[v]);
        balance.put(to, graph.weight[v]);
        owner[v] = static_cast<std::uint16_t>(to);
        ++num_moved;
      }
      if (v % kMoveBlock == kMoveBlock - 1) {
        progress.add(kMoveBlock);
        stop_if_interrupted();
      }
    }
    if (num_moved * 1000 <= num_nodes) break;
  }
}

}  // namespace salient
