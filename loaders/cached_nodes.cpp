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

/// The `count` nodes with the highest keys, of equal ones the lowest ids; ascending. The lowest key that is taken is
/// found half by half, by counting.
/// @param key_of  node -> uint32
template <class KeyOf>
std::vector<NodeId> highest_nodes(std::size_t num_nodes, std::size_t count, const KeyOf& key_of) {
  std::size_t left = std::min(count, num_nodes);  // to be taken of the nodes whose keys begin like `limit`
  std::uint32_t limit = 0;
  for (const std::uint32_t shift : {kHalf, 0U}) {
    std::vector<std::size_t> num_with(kHalves);
    for (std::size_t v = 0; v < num_nodes; ++v) {
      const std::uint32_t key = key_of(v);
      if (shift != 0 || key >> kHalf == limit >> kHalf) ++num_with[key >> shift & (kHalves - 1)];
    }
    std::uint32_t half = kHalves - 1;
    for (; half > 0 && num_with[half] <= left; --half) left -= num_with[half];
    limit |= half << shift;
  }
  std::vector<NodeId> taken;
  taken.reserve(std::min(count, num_nodes));
  for (std::size_t v = 0; v < num_nodes; ++v) {
    const std::uint32_t key = key_of(v);
    if (key < limit || (key == limit && left == 0)) continue;
    if (key == limit) --left;
    taken.push_back(static_cast<NodeId>(v));
  }
  return taken;
}

/// Of the nodes of eight batches that are counted, the share that is found; 1 where none is counted.
template <class IsCounted, class IsFound>
double share_of_sampled(const CsrGraph& graph, const SamplingPlan& plan, const IsCounted& is_counted,
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
      if (!is_counted(node)) continue;
      ++num_counted;
      if (is_found(node)) ++num_found;
    }
  }
  return num_counted == 0 ? 1 : static_cast<double>(num_found) / static_cast<double>(num_counted);
}

bool is_member(const NodeSet& set, NodeId node) { return set.index_of(node) != NodeSet::kAbsent; }

}  // namespace

std::vector<NodeId> most_connected_nodes(const CsrGraph& graph, std::size_t count) {
  return highest_nodes(graph.num_nodes(), count, [&](std::size_t v) { return graph.degree(v); });
}

std::vector<NodeId> most_visited_nodes(const std::vector<float>& visits, std::size_t count) {
  // Of floats that are not negative, the bits have their order.
  return highest_nodes(visits.size(), count, [&](std::size_t v) { return std::bit_cast<std::uint32_t>(visits[v]); });
}

std::vector<NodeId> nodes_to_cache(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan,
                                   std::size_t count, const NodeSet* excluded) {
  const auto is_excluded = [&](std::size_t v) {
    return excluded != nullptr && excluded->index_of(static_cast<NodeId>(v)) != NodeSet::kAbsent;
  };
  const auto highest = [&](const auto& key_of) {
    std::vector<NodeId> nodes = highest_nodes(graph.num_nodes(), count, [&](std::size_t v) {
      return is_excluded(v) ? 0U : static_cast<std::uint32_t>(key_of(v));
    });
    std::erase_if(nodes, is_excluded);  // where too few others have a key
    return nodes;
  };
  if (plan.is_empty() || policy == CachePolicy::kDegree) return highest([&](std::size_t v) { return graph.degree(v); });
  if (policy == CachePolicy::kVip) {
    const std::vector<float> visits = expected_visits(graph, plan);
    return highest([&](std::size_t v) { return std::bit_cast<std::uint32_t>(visits[v]); });
  }
  const std::vector<std::uint32_t> visits = counted_visits(graph, plan, kCountedEpochs);
  return highest([&](std::size_t v) {
    constexpr std::uint32_t kMost = kHalves - 1;
    return std::min(visits[v], kMost) << kHalf | std::min(graph.degree(v), kMost);
  });
}

double share_in(const NodeSet& cache, const CsrGraph& graph, const SamplingPlan& plan) {
  return share_of_sampled(
      graph, plan, [](NodeId) { return true; }, [&](NodeId node) { return is_member(cache, node); });
}

double share_of_rows_in(const NodeSet& rows, const CsrGraph& graph, const SamplingPlan& plan) {
  return share_of_sampled(
      graph, plan, [&](NodeId node) { return graph.degree(node) > 0; },
      [&](NodeId node) { return is_member(rows, node); });
}

}  // namespace salient
