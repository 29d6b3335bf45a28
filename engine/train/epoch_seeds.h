// engine/train/epoch_seeds.h - the seeds of an epoch's steps on this rank, and the number of their labels on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "loaders/batch_source.h"
#include "store/dataset.h"

namespace salient {

/// The training nodes in the order of one epoch, cut into global batches and those into ranks' shares. All ranks
/// compute the same order, without communication.
class EpochSeeds {
 public:
  /// @param dataset       outlives this   @param seed  of the run
  /// @param global_batch  seeds of a step, over all ranks
  EpochSeeds(const Dataset& dataset, std::uint32_t seed, std::size_t global_batch, int rank, int num_ranks);

  std::size_t num_steps() const { return num_steps_; }

  /// Shuffles for `epoch`, from 1, unless that was prepared. Requests of an earlier epoch are no longer valid.
  /// @return  this rank's share of every step from `first_step` on; borrows from this
  std::vector<BatchRequest> start(int epoch, std::size_t first_step);

  /// Shuffles for `epoch` while the one that was started goes on, so that start() need not.
  void prepare(int epoch);

  /// [training nodes] of the epoch that was started; the seeds of its requests are parts of it.
  std::span<const NodeId> order() const { return order_; }

  /// What the loss of a step is the mean over: the known labels of all ranks' seeds, of the epoch that was started.
  std::int64_t num_labels(std::size_t step) const { return num_labels_[step]; }

 private:
  std::int64_t count_labels(std::size_t step) const;

  const Dataset& dataset_;
  const std::uint32_t seed_;
  const std::size_t global_batch_, num_steps_;
  const int rank_, num_ranks_;
  std::vector<NodeId> order_;             // a permutation of dataset_.train
  std::vector<NodeId> prepared_order_;    // likewise
  int prepared_epoch_ = 0;                // 0 = none
  std::vector<std::int64_t> num_labels_;  // [num_steps_]
};

}  // namespace salient
