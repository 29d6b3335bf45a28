// sampler/batch_sampler.h - a sampler as the batch pipeline sees it: first the sizes, then the message-flow graph.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "sampler/excluding_sampler.h"
#include "sampler/exclusions.h"
#include "sampler/mfg.h"
#include "sampler/mfg_types.h"
#include "sampler/neighbor_sampler.h"
#include "sampler/node_degree.h"
#include "sampler/temporal_sampler.h"

namespace salient {

/// Host memory for one message-flow graph.
struct MfgMemory {
  struct Hop {
    LocalId* indptr = nullptr;       ///< [num_dst + 1], of a typed graph [num_rows + 1]
    LocalId* indices = nullptr;      ///< [num_edges]
    std::int64_t* places = nullptr;  ///< [num_edges] as MfgHop::places, after record_places(); null: not wanted
  };
  NodeId* nodes = nullptr;                       ///< [num_nodes]
  std::span<const Hop> hops{};                   ///< [L] outermost first
  NodeDegree* degrees = nullptr;                 ///< [num_nodes], or null: not wanted; of a plain graph
  std::span<const TypedHopMemory> typed_hops{};  ///< [L] of a typed graph
  std::span<LocalId* const> nodes_of_type{};     ///< [T] of a typed graph: [num_nodes_of_type] their numbers, ascending
  std::int64_t* times = nullptr;                 ///< [num_nodes] as TemporalMfg::times, or null: not wanted
};

/// Samples one batch at a time. A slab can be laid out between the two calls, so that nothing is copied twice. All
/// implementations give equal results by equal rules; reference_sample() is the oracle of each.
class BatchSampler {
 public:
  BatchSampler() = default;
  virtual ~BatchSampler() = default;
  BatchSampler(const BatchSampler&) = delete;
  BatchSampler& operator=(const BatchSampler&) = delete;

  /// As NeighborSampler::sample(); the result stays with the sampler.
  /// @return  its sizes, valid until the next call
  virtual const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) = 0;

  /// Writes what was sampled last, which it may then forget.
  virtual void copy_to(const MfgMemory& memory) = 0;

  /// Samples from now on have MfgHop::places. @throws Error{kInternal} of a sampler that has none
  virtual void record_places();

  /// Samples from now on lack these entries of the graph, as they are when a batch is sampled; null: none.
  /// @param entries  in any order; outlives its use
  /// @throws Error{kInternal} of a sampler that leaves none out, or knows them from elsewhere
  virtual void leave_out(const std::vector<EntryKey>* entries);

  /// What was sampled last will not be copied. A caller who fails between the two calls must say so.
  virtual void drop() noexcept {}
};

/// Samples on the caller's thread.
class HostBatchSampler final : public BatchSampler {
 public:
  /// As NeighborSampler.
  HostBatchSampler(CsrGraph graph, SamplingRule rule) : graph_(graph), sampler_(graph, std::move(rule)) {}

  const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) override;
  void copy_to(const MfgMemory& memory) override;
  void record_places() override { sampler_.record_places(); }

 private:
  CsrGraph graph_;
  NeighborSampler sampler_;
  Mfg mfg_;
  MfgShape shape_;
  MfgTypes types_;  // of a typed graph
};

/// The same without entries that the batch must not see.
class ExcludingBatchSampler final : public BatchSampler {
 public:
  /// As ExcludingSampler. @param excluded  as it is when a batch is sampled; outlives the sampler
  ExcludingBatchSampler(CsrGraph graph, SamplingRule rule, const Exclusions& excluded)
      : graph_(graph), excluded_(&excluded), sampler_(graph, std::move(rule)) {}

  /// Oracle: reference_excluding_sample().
  const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) override;

  /// Degrees are those of the whole graph.
  void copy_to(const MfgMemory& memory) override;
  void record_places() override { sampler_.record_places(); }

 private:
  CsrGraph graph_;
  const Exclusions* excluded_;
  ExcludingSampler sampler_;
  Mfg mfg_;
  MfgShape shape_;
  MfgTypes types_;  // of a typed graph
};

/// The same of what each seed's own time admits. Nodes may be there several times, seeds too where their times are
/// given.
class TemporalBatchSampler final : public BatchSampler {
 public:
  /// As TemporalSampler. @param node_times  [V] when each node is a seed; outlives the sampler
  TemporalBatchSampler(CsrGraph graph, SamplingRule rule, TimeRule times, std::span<const std::int64_t> node_times);
  /// @param seed_times  of the seeds, as it is when a batch is sampled; outlives the sampler
  TemporalBatchSampler(CsrGraph graph, SamplingRule rule, TimeRule times, const std::vector<std::int64_t>& seed_times);

  /// Oracle: reference_temporal_sample().
  const MfgShape& sample(std::span<const NodeId> seeds, BatchKey key) override;

  /// No degrees: those of the whole graph count edges that no seed sees.
  void copy_to(const MfgMemory& memory) override;
  void record_places() override { sampler_.record_places(); }

 private:
  std::span<const std::int64_t> node_times_;
  TemporalSampler sampler_;
  const std::vector<std::int64_t>* given_ = nullptr;  // null: those of the nodes
  std::vector<std::int64_t> seed_times_;
  TemporalMfg sample_;
  MfgShape shape_;
};

}  // namespace salient
