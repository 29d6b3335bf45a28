// models/resident/tree.h - a batch's sampled neighbourhoods as a tree in GPU memory; nothing returns to the host.
//
// Level 0 is the seeds. Level h + 1 is level h followed by the neighbours that hop h samples for each of its nodes,
// in the order of their parents. A node that is sampled twice is there twice. Draws are a function of the node
// (sampler/draws.h), so both have the same neighbours: a model computes the same as over the message-flow graph, where
// each node is there once. What it saves is the id map, and every row's gradient comes from one parent: no atomics, and
// a fixed order of every sum.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/describe/resident_limits.h"
#include "models/resident/limits.h"
#include "models/resident/seed_batch.h"
#include "models/resident/tree_links.h"
#include "sampler/device_csr.h"
#include "sampler/sampling_rule.h"

namespace salient {

/// How level h + 1 grows from level h. Device memory.
struct TreeGrowth {
  const LocalId* num_nodes;  ///< [1] nodes of level h
  const LocalId* num_grown;  ///< [1] nodes of level h + 1
  const LocalId*
      first_child;  ///< [capacity + 1] of node i, less num_nodes; the children of i end where those of i + 1 begin
  const LocalId* parent;        ///< [grown_capacity - capacity] of child c
  std::int64_t capacity;        ///< nodes of level h at most
  std::int64_t grown_capacity;  ///< nodes of level h + 1 at most
};

/// What the last hop keeps of each node of the last level. These entries have no level of their own: their rows are
/// read and added up at once. Device memory.
struct LastHop {
  const NodeId* nodes;         ///< of the last level
  const LocalId* num_nodes;    ///< [1]
  const NodeId* entries;       ///< [capacity, fanout]: those of node i are the first num_entries[i] of row i
  const LocalId* num_entries;  ///< [capacity], 0 behind the level's end
  std::int64_t capacity;
  std::int64_t fanout;
};

/// The entries that a hop keeps of each node of a level, by their places in the graph. Device memory.
struct PlacedEntries {
  const LocalId* num_nodes;    ///< [1] of the level
  std::int64_t capacity;       ///< of the level
  const LocalId* first_child;  ///< [capacity + 1] of a hop that grows the level: the entries of node i are those from
                               ///< first_child[i] to first_child[i + 1]. Null of the last hop:
  const LocalId* num_entries;  ///< [capacity] the first num_entries[i] of
  std::int64_t fanout;         ///< those from i * fanout on
  const EdgeOffset* places;    ///< of each in the graph's entries
};

/// Whether a tree knows the places of its entries: 8 bytes each, and their writing.
enum class Places : std::uint8_t { kNotKept, kKept };

/// The levels of one batch at a time. All memory is allocated once, for the largest batch that the fanouts allow.
class SampledTree {
 public:
  /// @param graph  device memory, outlives this
  /// @param rule   fanouts in [1, kMaxResidentFanout]; has_tree_draw()
  /// @param links  that batches are of, which lack their entries then; none: batches are of nodes
  /// @throws Error{kDeviceMemory}
  SampledTree(DeviceCsr graph, SamplingRule rule, std::int64_t max_seeds, Places places = Places::kNotKept,
              const std::optional<TreeLinks>& links = {});

  /// Writes the header, and takes the batch's seeds as level 0. Enqueues and returns.
  void begin(const SeedBatch& batch, cudaStream_t stream);
  /// The same with a batch in device memory, which announce() wrote: can be captured.
  void begin_announced(const SeedBatch* batch, cudaStream_t stream);

  /// Samples all hops of the batch that begin() named: the same launches for every batch, so they can be captured. The
  /// levels are a chain of small kernels; the last hop is one large kernel behind them.
  void sample(cudaStream_t stream) { sample_levels(stream), sample_last_hop(stream); }
  void sample_levels(cudaStream_t stream);
  void sample_last_hop(cudaStream_t stream);

  enum class Counted : std::uint8_t { kAllBatches, kBatchesBefore };  ///< with the last one, or without it
  /// Entries that each hop kept since clear_counts(). Blocks until `stream` has passed.
  std::vector<std::int64_t> num_edges(Counted which, cudaStream_t stream) const;
  void clear_counts();

  const StepHeader* header() const { return header_.get(); }  ///< device
  const NodeId* nodes() const { return nodes_.get(); }        ///< device; a level is its first nodes
  const LocalId* size_of(std::size_t level) const { return sizes_.get() + level; }  ///< device, [1]
  std::int64_t capacity(std::size_t level) const { return capacities_[level]; }
  TreeGrowth growth(std::size_t level) const;
  LastHop last_hop() const;
  /// Of the hop that is sampled for the nodes of a level. Only with Places::kKept.
  PlacedEntries placed_entries(std::size_t level) const;

 private:
  TreeStart start() const;
  bool has_places() const { return !places_.empty(); }
  void grow_level(std::size_t h, cudaStream_t stream);

  DeviceCsr graph_;
  SamplingRule rule_;
  std::optional<LinkStart> links_{};
  std::vector<std::int64_t> capacities_;  // of the levels
  DeviceArray<StepHeader> header_;
  DeviceArray<NodeId> nodes_;
  DeviceArray<LocalId> sizes_;
  std::vector<DeviceArray<LocalId>> first_child_, parent_;  // of all hops but the last
  DeviceArray<LocalId> num_children_;                       // [capacity + 1] of the hop at hand, or before a node's
  DeviceArray<LocalId> chunk_sums_;                         // of the hop at hand
  DeviceArray<NodeId> entries_;                             // of the last hop
  std::vector<DeviceArray<EdgeOffset>> places_;             // of all hops, or none
  DeviceArray<unsigned long long> num_edges_;               // [2, hops]: of the last batch, of those before it
};

/// Nodes of every level at most, the seeds first: as many levels as hops.
std::vector<std::int64_t> tree_capacities(const std::vector<int>& fanouts, std::int64_t max_seeds);

}  // namespace salient
