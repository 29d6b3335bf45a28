// loaders/cached_nodes.cpp - see cached_nodes.h.
#include "loaders/cached_nodes.h"

#include <algorithm>
#include <bit>
#include <span>

#include "core/error.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/seed_order.h"

namespace salient {
namespace {

constexpr std::uint32_t kCountedEpochs = 2;
constexpr std::uint32_t kHalf = 16;  // bits
constexpr std::size_t kHalves = std::size_t{1} << kHalf;

/// Of all rows of a node, of a typed graph of its slots, which lie side by side.
std::uint32_t num_entries(const CsrGraph& graph, std::size_t v) {
  if (graph.slots == nullptr) return graph.degree(v);
  const SlotTable& slots = *graph.slots;
  const std::size_t type = slots.type_of(static_cast<NodeId>(v));
  const auto first = static_cast<std::size_t>(slots.row_of(type, static_cast<NodeId>(v), 0));
  return static_cast<std::uint32_t>(graph.indptr[first + slots.num_slots[type]] - graph.indptr[first]);
}

/// Every node takes the same room.
std::size_t one_each(std::size_t /*node*/) { return 1; }

/// What the rows of a node take; asked for in the order of ids.
class CostByType {
 public:
  explicit CostByType(const RowSizes& sizes) : sizes_(sizes) {}
  std::size_t operator()(std::size_t v) {
    const std::vector<std::uint64_t>& begin = sizes_.slots.node_begin;
    if (v < begin[type_] || v >= begin[type_ + 1]) type_ = sizes_.slots.type_of(static_cast<NodeId>(v));
    return sizes_.of_types[type_];
  }

 private:
  RowSizes sizes_;
  std::size_t type_ = 0;
};

/// The nodes with the highest keys that have room together, of equal ones the lowest ids; ascending. The lowest key
/// that is taken is found half by half, by adding up what nodes cost.
/// @param key_of  node -> uint32   @param cost_of  node -> its part of the room
template <class KeyOf, class CostOf>
std::vector<NodeId> highest_nodes(std::size_t num_nodes, std::size_t room, const KeyOf& key_of, CostOf cost_of) {
  std::size_t left = room;  // for the nodes whose keys begin like `limit`
  std::uint32_t limit = 0;
  for (const std::uint32_t shift : {kHalf, 0U}) {
    std::vector<std::size_t> num_with(kHalves);
    for (std::size_t v = 0; v < num_nodes; ++v) {
      const std::uint32_t key = key_of(v);
      if (shift != 0 || key >> kHalf == limit >> kHalf) num_with[key >> shift & (kHalves - 1)] += cost_of(v);
    }
    std::uint32_t half = kHalves - 1;
    for (; half > 0 && num_with[half] <= left; --half) left -= num_with[half];
    limit |= half << shift;
  }
  std::vector<NodeId> taken;
  for (std::size_t v = 0; v < num_nodes; ++v) {
    const std::uint32_t key = key_of(v);
    if (key < limit) continue;
    if (key == limit) {
      const std::size_t cost = cost_of(v);
      if (left < cost) continue;
      left -= cost;
    }
    taken.push_back(static_cast<NodeId>(v));
  }
  return taken;
}

/// Of the nodes of eight batches, each as often as `weight_of` says, the share that is found; 1 where none counts.
template <class WeightOf, class IsFound>
double share_of_sampled(const CsrGraph& graph, const SamplingPlan& plan, const WeightOf& weight_of,
                        const IsFound& is_found) {
  require(!plan.is_empty(), "a plan visits nodes");
  constexpr std::uint32_t kBatches = 8, kEpoch = 0;  // a run's first is 1
  // No more seeds than that, from all over the plan's.
  std::vector<NodeId> order(std::min(plan.seeds.size(), kBatches * plan.batch_size));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = plan.seeds[i * plan.seeds.size() / order.size()];
  shuffle_seeds(order, plan.seed, kEpoch);
  NeighborSampler sampler(graph, plan.rule);
  Mfg mfg;
  std::size_t num_counted = 0, num_found = 0;
  for (std::uint32_t b = 0; b < kBatches && b * plan.batch_size < order.size(); ++b) {
    const std::size_t begin = b * plan.batch_size, size = std::min(plan.batch_size, order.size() - begin);
    sampler.sample(std::span(order).subspan(begin, size), {plan.seed, kEpoch, b}, mfg);
    for (const NodeId node : mfg.nodes) {
      const auto weight = static_cast<std::size_t>(weight_of(node));
      num_counted += weight;
      if (weight > 0 && is_found(node)) num_found += weight;
    }
  }
  return num_counted == 0 ? 1 : static_cast<double>(num_found) / static_cast<double>(num_counted);
}

bool is_member(const NodeSet& set, NodeId node) { return set.index_of(node) != NodeSet::kAbsent; }

/// @param left_out  node -> whether it is not to be taken
template <class CostOf, class LeftOut>
std::vector<NodeId> best_nodes(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan, std::size_t room,
                               CostOf cost_of, LeftOut left_out) {
  const auto highest = [&](const auto& key_of) {
    std::vector<NodeId> nodes = highest_nodes(
        graph.num_nodes(), room,
        [&](std::size_t v) { return left_out(v) ? 0U : static_cast<std::uint32_t>(key_of(v)); }, cost_of);
    std::erase_if(nodes, left_out);  // where too few others have a key
    return nodes;
  };
  if (plan.is_empty() || policy == CachePolicy::kDegree)
    return highest([&](std::size_t v) { return num_entries(graph, v); });
  if (policy == CachePolicy::kVip) {
    const std::vector<float> visits = expected_visits(graph, plan);
    return highest([&](std::size_t v) { return std::bit_cast<std::uint32_t>(visits[v]); });
  }
  const std::vector<std::uint32_t> visits = counted_visits(graph, plan, kCountedEpochs);
  return highest([&](std::size_t v) {
    constexpr std::uint32_t kMost = kHalves - 1;
    return std::min(visits[v], kMost) << kHalf | std::min(num_entries(graph, v), kMost);
  });
}

}  // namespace

std::vector<NodeId> most_connected_nodes(const CsrGraph& graph, std::size_t count) {
  return highest_nodes(
      graph.num_nodes(), count, [&](std::size_t v) { return num_entries(graph, v); }, one_each);
}

std::vector<NodeId> most_visited_nodes(const std::vector<float>& visits, std::size_t count) {
  // Of floats that are not negative, the bits have their order.
  return highest_nodes(
      visits.size(), count, [&](std::size_t v) { return std::bit_cast<std::uint32_t>(visits[v]); }, one_each);
}

std::vector<NodeId> nodes_to_cache(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan,
                                   std::size_t count, const NodeSet* excluded) {
  return best_nodes(graph, policy, plan, count, one_each,
                    [&](std::size_t v) { return excluded != nullptr && is_member(*excluded, static_cast<NodeId>(v)); });
}

std::vector<NodeId> nodes_to_cache(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan,
                                   std::size_t num_bytes, const RowSizes& sizes, const NodeSet* excluded) {
  CostByType bytes_of(sizes);
  auto is_left_out = [&, bytes_of](std::size_t v) mutable {
    return bytes_of(v) == 0 || (excluded != nullptr && is_member(*excluded, static_cast<NodeId>(v)));
  };
  const auto cost_of = [&, bytes_of, is_left_out](std::size_t v) mutable { return is_left_out(v) ? 0 : bytes_of(v); };
  return best_nodes(graph, policy, plan, num_bytes, cost_of, is_left_out);
}

double share_in(const NodeSet& cache, const CsrGraph& graph, const SamplingPlan& plan) {
  return share_of_sampled(
      graph, plan, [](NodeId) { return 1; }, [&](NodeId node) { return is_member(cache, node); });
}

double share_in(const NodeSet& cache, const CsrGraph& graph, const SamplingPlan& plan, const RowSizes& sizes) {
  return share_of_sampled(
      graph, plan, [&](NodeId node) { return sizes.of_types[sizes.slots.type_of(node)]; },
      [&](NodeId node) { return is_member(cache, node); });
}

double share_of_rows_in(const NodeSet& rows, const CsrGraph& graph, const SamplingPlan& plan) {
  return share_of_sampled(
      graph, plan, [&](NodeId node) { return graph.degree(node) > 0; },
      [&](NodeId node) { return is_member(rows, node); });
}

}  // namespace salient
