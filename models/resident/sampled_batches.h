// models/resident/sampled_batches.h - batches whose neighbourhoods are sampled while batches before them are computed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/resident/tree.h"

namespace salient {

/// What batches sampled, repeated nodes counted as often as they occur.
struct StepCounts {
  std::vector<std::int64_t> hop_nodes, hop_edges;  ///< [hops], the seeds' own first: known after it, sampled in it
};

/// How long before its computation a batch is sampled.
enum class SamplingLead : std::uint8_t {
  kOneBatch,      ///< beside the computation of the batch before
  kThreeBatches,  ///< levels beside the third batch before, the last hop beside the second: complete beside the first
};

/// A tree for each batch under way. Sampling waits for memory with most of the GPU idle, so it costs little beside
/// products. A batch is the same whether it was sampled ahead or not.
class SampledBatches {
 public:
  /// Trees that sampling with this lead needs.
  static constexpr std::size_t num_trees(SamplingLead lead) { return lead == SamplingLead::kOneBatch ? 2 : 4; }

  /// @param graph  device memory, outlives this; the others but `lead` are SampledTree's
  /// @throws Error{kDeviceMemory}
  SampledBatches(DeviceCsr graph, const SamplingRule& rule, std::int64_t max_seeds, SamplingLead lead,
                 Places places = Places::kNotKept, const std::optional<TreeLinks>& links = {});

  std::size_t num_trees() const { return trees_.size(); }
  const SampledTree& tree(std::size_t i) const { return trees_[i]; }

  /// The tree of the batch that comes `distance` batches behind that in tree i.
  std::size_t tree_behind(std::size_t i, std::size_t distance) const { return (i + distance) % trees_.size(); }

  /// The seeds of batches until the next call. Copied. Blocks until the device is idle.
  void start(std::span<const NodeId> order);

  /// Later work on `stream` finds the batch in the tree whose number is returned; that work has sample_levels() and
  /// sample_last_hop() of that tree in it. Work of the batches before, on other streams, has passed.
  /// @param header  of order[header.first_seed ...]
  /// @param ahead   the headers of the next calls, as many as are known; those beyond the lead are ignored. What an
  ///                earlier call said stays true
  std::size_t begin(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream);

  /// `count` calls of begin() at once, for work that has begin_announced() in it. The first batch is in tree 0; later
  /// work on `stream` finds all of them.
  /// @param rest  headers of these calls and of all after them
  void begin_all(std::span<const StepHeader> rest, std::size_t count, cudaStream_t stream);
  /// Whether the next batch is in tree 0.
  bool is_at_first_tree() const { return tree_behind(current_, 1) == 0; }

  /// Beside the computation of batch i of begin_all(), which is not the first, before sample_levels(): begins the batch
  /// that is sampled there.
  void begin_announced(std::size_t i, cudaStream_t stream) {
    trees_[(i + num_with_levels()) % trees_.size()].begin_announced(announced_.get() + i - 1, stream);
  }

  /// Beside the computation of the batch in tree i, for the batches that the lead names: the same launches for every
  /// batch, so they can be captured. With a lead of one batch the last hop comes behind the levels.
  void sample_levels(std::size_t i, cudaStream_t stream) {
    trees_[tree_behind(i, num_with_levels())].sample_levels(stream);
  }
  void sample_last_hop(std::size_t i, cudaStream_t stream) {
    trees_[tree_behind(i, num_complete())].sample_last_hop(stream);
  }

  /// Of the batches that began since start(). Blocks until `stream` has passed.
  StepCounts counts(cudaStream_t stream) const;

 private:
  /// Batches, that at hand the first, whose tree has levels, or is complete, before its work begins.
  std::size_t num_with_levels() const { return trees_.size() - 1; }
  std::size_t num_complete() const { return trees_.size() / 2; }
  void refill(std::size_t distance, cudaStream_t stream);

  SeedBatch batch_of(const std::optional<StepHeader>& header) const {
    return {header.value_or(StepHeader{}), order_.get()};
  }

  /// Nodes of level 0 of a batch.
  std::int64_t num_seeds_of(const StepHeader& header) const { return header.num_seeds * seeds_of_item_; }

  std::vector<SampledTree> trees_;
  std::int64_t seeds_of_item_;        // of the order
  DeviceArray<SeedBatch> announced_;  // behind what begin_all() begins itself
  DeviceArray<NodeId> order_;
  std::size_t order_size_ = 0, current_ = 0;
  std::vector<std::optional<StepHeader>> begun_;  // by distance from the batch at hand; those that are not known too
  std::int64_t num_seeds_ = 0;                    // since start()
};

}  // namespace salient
