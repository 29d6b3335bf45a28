// loaders/graph_tiers.cpp - see graph_tiers.h.
#include "loaders/graph_tiers.h"

#include <algorithm>
#include <bit>

#include "core/error.h"

namespace salient {
namespace {

constexpr std::uint32_t kEpochsToCount = 2;

/// Of floats that are not negative, the bits have their order; the upper half has seven binary places.
std::size_t key_of(float value) { return std::bit_cast<std::uint32_t>(value) >> 16; }

}  // namespace

GraphTiers::GraphTiers(const CsrGraph& graph, std::span<const float> values, std::size_t most_hot)
    : graph_(graph), begins_(graph.num_nodes()), order_(graph.num_nodes()) {
  require(values.size() == graph.num_nodes(), "a value per row");
  std::vector<std::size_t> places((std::size_t{1} << 16) + 1);  // by key: the first place in the order
  for (const float value : values) ++places[key_of(value)];
  for (std::size_t key = places.size(), before = 0; key-- > 0;) {
    const std::size_t count = places[key];
    places[key] = before;
    before += count;
  }
  for (std::size_t v = 0; v < order_.size(); ++v) order_[places[key_of(values[v])]++] = static_cast<NodeId>(v);
  EdgeOffset begin = 0;
  const auto most = static_cast<EdgeOffset>(std::min(most_hot, graph.indices.size()));
  for (const NodeId v : order_) {
    begins_[v] = begin;
    begin += graph.degree(v);
    if (begin <= most) num_hot_ = static_cast<std::size_t>(begin);
  }
}

void GraphTiers::copy(std::size_t first, std::size_t count, NodeId* out) const {
  require(first + count <= graph_.indices.size(), "entries of the graph");
  const auto at = static_cast<EdgeOffset>(first);
  if (count == 0) return;
  auto row = std::ranges::upper_bound(order_, at, {}, [&](NodeId v) { return begins_[v]; }) - 1;
  for (auto skipped = static_cast<std::size_t>(at - begins_[*row]); count > 0; ++row, skipped = 0) {
    const std::span<const NodeId> entries = graph_.row(*row).subspan(skipped);
    const std::size_t taken = std::min(count, entries.size());
    out = std::copy_n(entries.begin(), taken, out);
    count -= taken;
  }
}

std::vector<NodeId> GraphTiers::hot_nodes() const {
  const auto is_hot = [&](NodeId v) { return graph_.degree(v) > 0 && begins_[v] < static_cast<EdgeOffset>(num_hot_); };
  std::vector<NodeId> nodes;
  nodes.reserve(static_cast<std::size_t>(std::ranges::count_if(order_, is_hot)));  // bytes_to_order_rows() counts on it
  for (std::size_t v = 0; v < begins_.size(); ++v)
    if (is_hot(static_cast<NodeId>(v))) nodes.push_back(static_cast<NodeId>(v));
  return nodes;
}

SamplingPlan plan_of_rows(SamplingPlan plan) {
  if (plan.rule.fanouts.size() > 1) plan.rule.fanouts.pop_back();
  return plan;
}

std::vector<float> row_values(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan) {
  std::vector<float> values(graph.num_nodes());
  const auto set_all = [&](const auto& value_of) {
    for (std::size_t v = 0; v < values.size(); ++v) values[v] = graph.degree(v) == 0 ? 0.F : value_of(v);
  };
  const auto per_entry = [&](const auto& visits) {
    set_all([&](std::size_t v) { return static_cast<float>(visits[v]) / static_cast<float>(graph.degree(v)); });
  };
  if (plan.is_empty() || policy == CachePolicy::kDegree)
    set_all([&](std::size_t v) { return static_cast<float>(graph.degree(v)); });
  else if (policy == CachePolicy::kVip)
    per_entry(expected_visits(graph, plan_of_rows(plan)));
  else
    per_entry(counted_visits(graph, plan_of_rows(plan), kEpochsToCount));
  return values;
}

}  // namespace salient
