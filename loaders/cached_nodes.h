// loaders/cached_nodes.h - which feature rows are worth their place in GPU memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/csr_graph.h"
#include "core/enum_names.h"
#include "core/types.h"
#include "loaders/node_set.h"
#include "sampler/expected_visits.h"

namespace salient {

/// What makes a node worth caching.
enum class CachePolicy : std::uint8_t {
  kVip,      ///< expected_visits(): "vertex inclusion probability"
  kDegree,   ///< a long row
  kCounted,  ///< counted_visits() of two epochs; of equally many, a long row
};

constexpr auto names_of(CachePolicy) {
  return std::to_array<EnumName<CachePolicy>>(
      {{CachePolicy::kVip, "vip"}, {CachePolicy::kDegree, "degree"}, {CachePolicy::kCounted, "counted"}});
}

/// The best `count` nodes, of equally good ones those with the lowest ids; ascending. All nodes, if there are no more.
/// @param plan      of the batches that will use the cache; empty: kDegree whatever is asked for
/// @param excluded  nodes that need no cache; null = none
std::vector<NodeId> nodes_to_cache(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan,
                                   std::size_t count, const NodeSet* excluded = nullptr);

/// What the row of each node takes, by its type.
struct RowSizes {
  const SlotTable& slots;                 ///< of a typed graph
  std::span<const std::size_t> of_types;  ///< [types] bytes; 0 = no row that can be copied
};

/// The best nodes whose rows take at most `num_bytes` together: a copied row saves its bytes as often as it is met, so
/// that its width does not matter. Likewise.
std::vector<NodeId> nodes_to_cache(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan,
                                   std::size_t num_bytes, const RowSizes& sizes, const NodeSet* excluded = nullptr);

/// The share of a batch's nodes that are in `cache`, found by sampling eight batches, which the run will not make.
/// @param plan  not empty
double share_in(const NodeSet& cache, const CsrGraph& graph, const SamplingPlan& plan);

/// The same of the bytes of its nodes' rows; 1 where there are none.
double share_in(const NodeSet& cache, const CsrGraph& graph, const SamplingPlan& plan, const RowSizes& sizes);

/// The same of a batch's nodes whose rows of the graph have entries; 1 where no such node is met.
double share_of_rows_in(const NodeSet& rows, const CsrGraph& graph, const SamplingPlan& plan);

/// Host memory that nodes_to_cache() takes for a while.
constexpr std::int64_t bytes_to_choose(CachePolicy policy, std::size_t num_nodes) {
  return policy == CachePolicy::kDegree ? 0 : static_cast<std::int64_t>(12 * num_nodes);
}

/// The `count` nodes with the longest rows, likewise. Cost: three passes over indptr.
std::vector<NodeId> most_connected_nodes(const CsrGraph& graph, std::size_t count);

/// The `count` nodes with the highest values, likewise. @param visits  [V] not negative
std::vector<NodeId> most_visited_nodes(const std::vector<float>& visits, std::size_t count);

}  // namespace salient
