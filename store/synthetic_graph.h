// store/synthetic_graph.h - the structure behind a synthetic data set: communities, degrees, edges.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/console/progress.h"
#include "core/host/huge_vector.h"
#include "store/csr_arrays.h"
#include "store/index_permutation.h"
#include "store/synthetic.h"

namespace salient {

/// Which random decision a Philox block or permutation belongs to.
enum class SyntheticDraw : std::uint32_t { kRank = 1, kDegree, kPairing, kLabel, kSplit, kFeatureMean, kFeatureNoise };

/// Which node belongs to which community. Nodes have ranks: communities are intervals of ranks, and a permutation
/// scatters them over the node ids, so that an id is no evidence of a community.
class Communities {
 public:
  explicit Communities(const SyntheticOptions& options);

  int count() const { return static_cast<int>(bounds_.size()) - 1; }
  std::uint64_t num_nodes() const { return bounds_.back(); }
  std::uint64_t rank_of(NodeId node) const { return rank_(node); }
  NodeId node_of(std::uint64_t rank) const { return static_cast<NodeId>(rank_.inverse(rank)); }
  int community_of(std::uint64_t rank) const;
  std::uint64_t first_rank(int community) const { return bounds_[static_cast<std::size_t>(community)]; }

 private:
  IndexPermutation rank_;
  std::vector<std::uint64_t> bounds_;  ///< [num_classes + 1]
};

/// A symmetric graph without repeated entries or self loops, drawn from the configuration model: a node of degree d has
/// d edge ends ("stubs"), a random permutation lays all stubs in a row, and neighbours in that row are joined. As the
/// permutation is computable both ways, each row is generated on its own; nothing is stored, sorted or exchanged.
/// Stubs inside a community and those that leave it are paired apart.
///
/// Memory: 16 to 24 bytes per node, none per edge.
class SyntheticGraph {
 public:
  /// @param options, communities  must outlive the graph
  SyntheticGraph(const SyntheticOptions& options, const Communities& communities);
  ~SyntheticGraph();
  SyntheticGraph(const SyntheticGraph&) = delete;
  SyntheticGraph& operator=(const SyntheticGraph&) = delete;

  /// The rows of nodes first to end - 1 as a slice. Runs in the caller's arena.
  /// @param progress  of the caller; advances by two for every entry before repeats are dropped: drawn, sorted
  /// @param memory    where the result will be; null = this process' own
  CsrArrays rows(std::uint64_t first, std::uint64_t end, Progress& progress, HostMemory* memory = nullptr) const;

 private:
  struct Stubs;
  const SyntheticOptions& options_;
  const Communities& communities_;
  std::unique_ptr<const Stubs> stubs_;
};

/// All rows, with progress bars.
CsrArrays make_synthetic_graph(const SyntheticOptions& options, const Communities& communities,
                               HostMemory* memory = nullptr);

}  // namespace salient
