// loaders/graph_tiers.h - the rows of a graph that does not fit into GPU memory, cut into those that are there and the
// others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/csr_graph.h"
#include "core/types.h"
#include "loaders/cached_nodes.h"
#include "sampler/expected_visits.h"

namespace salient {

/// An order of the graph's rows, the most valuable first. Those before a cut are hot: their entries go to GPU memory,
/// one row behind the other; the entries of the cold ones go to host memory in the same way.
class GraphTiers {
 public:
  /// @param graph     outlives this
  /// @param values    [V] not negative. Values that differ by less than one per cent may count as equal; of equal ones
  ///                  the lower id comes first
  /// @param most_hot  entries that fit into GPU memory
  /// Cost:            three passes over rows' bounds on one core; 12 bytes a node
  GraphTiers(const CsrGraph& graph, std::span<const float> values, std::size_t most_hot);

  std::size_t num_hot() const { return num_hot_; }  ///< entries
  std::size_t num_cold() const { return graph_.indices.size() - num_hot_; }

  /// The one place that says where a row is: its first entry, counted in entries from the first hot one.
  /// @param first_cold  where the first cold entry is, counted likewise
  EdgeOffset begin_of(std::size_t v, EdgeOffset first_cold) const {
    const auto cut = static_cast<EdgeOffset>(num_hot_);
    return begins_[v] < cut ? begins_[v] : begins_[v] - cut + first_cold;
  }

  /// Entries [first, first + count) of all in this order, hot ones first. Any threads at a time.
  void copy(std::size_t first, std::size_t count, NodeId* out) const;

  /// Whose rows have entries and are hot, ascending.
  std::vector<NodeId> hot_nodes() const;

 private:
  CsrGraph graph_;
  std::vector<EdgeOffset> begins_;  // [V] by node, in the order
  std::vector<NodeId> order_;       // [V]
  std::size_t num_hot_ = 0;
};

/// Of what a run's batches meet, the nodes whose rows they read: all but those that only the last hop finds.
SamplingPlan plan_of_rows(SamplingPlan plan);

/// What each row is worth in GPU memory: reads of it per entry that it takes, by `policy`; of kDegree its length.
/// @param plan  of the batches that will be sampled; empty: kDegree whatever is asked for
std::vector<float> row_values(const CsrGraph& graph, CachePolicy policy, const SamplingPlan& plan);

/// Host memory for a while: of row_values() and GraphTiers, and then of GraphTiers, its hot_nodes() and a set of them.
constexpr std::int64_t bytes_to_order_rows(std::size_t num_nodes) {
  return static_cast<std::int64_t>(16 * num_nodes) + node_set_bytes(num_nodes);
}

}  // namespace salient
