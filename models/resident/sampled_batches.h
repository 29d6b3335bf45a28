// models/resident/sampled_batches.h - batches whose neighbourhoods are sampled while the batch before them is computed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/cuda/cuda.h"
#include "models/resident/tree.h"

namespace salient {

/// What batches sampled, repeated nodes counted as often as they occur.
struct SageCounts {
  std::vector<std::int64_t> hop_nodes, hop_edges;  ///< [hops], the seeds' own first: known after it, sampled in it
};

/// Two trees in turn. Sampling waits for memory with most of the GPU idle, so it costs little beside products. A batch
/// is the same whether it was sampled ahead or not.
class SampledBatches {
 public:
  static constexpr std::size_t kNumTrees = 2;

  /// @param graph  device memory, outlives this; the other arguments are SampledTree's
  /// @throws Error{kDeviceMemory}
  SampledBatches(DeviceCsr graph, const std::vector<int>& fanouts, Replacement replacement, std::int64_t max_seeds);

  const SampledTree& tree(std::size_t i) const { return trees_[i]; }

  /// The seeds of batches until the next call. Copied. Blocks until the device is idle.
  void start(std::span<const NodeId> order);

  /// Later work on `stream` finds the batch in the tree whose number is returned; that work, or work beside it, has
  /// sample_next() or both of its parts in it.
  /// @param header  of order[header.first_seed ...]; the last call's `next` if that had one
  /// @param next    the batch that sample_next() samples; none: nothing
  std::size_t begin(const StepHeader& header, const std::optional<StepHeader>& next, cudaStream_t stream);

  /// Beside the computation of the batch in tree i: the same launches for every batch, so they can be captured.
  void sample_next(std::size_t i, cudaStream_t stream) { trees_[next(i)].sample(stream); }

  /// The same in two parts: SampledTree says which.
  void sample_next_levels(std::size_t i, cudaStream_t stream) { trees_[next(i)].sample_levels(stream); }
  void sample_next_last_hop(std::size_t i, cudaStream_t stream) { trees_[next(i)].sample_last_hop(stream); }

  /// The tree of the batch behind that in tree i.
  static std::size_t next(std::size_t i) { return (i + 1) % kNumTrees; }

  /// Of the batches that began since start(). Blocks until `stream` has passed.
  SageCounts counts(cudaStream_t stream) const;

 private:
  std::array<SampledTree, kNumTrees> trees_;
  DeviceArray<NodeId> order_;
  std::size_t order_size_ = 0, current_ = 0;
  std::optional<StepHeader> ahead_;  // sampled by the work of the last batch
  std::int64_t num_seeds_ = 0;       // since start()
};

}  // namespace salient
