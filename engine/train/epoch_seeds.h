// engine/train/epoch_seeds.h - the seeds of an epoch's steps on this rank, and the number of their labels on all ranks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "loaders/batch_source.h"
#include "sampler/seed_order.h"
#include "store/dataset.h"
#include "store/parts.h"

namespace salient {

/// The training nodes, or the numbers of the training links, in the order of one epoch, cut into global batches and
/// those into ranks' shares, evenly or by who owns them: a global batch has the same seeds in either case. All ranks
/// compute the same order, without communication.
class EpochSeeds {
 public:
  /// @param dataset       outlives this   @param seed  of the run
  /// @param global_batch  seeds of a step, over all ranks
  /// @param parts         whose seeds go to whom, at least one for each rank; none: rank_share(). Outlives this
  /// @param terms         of the loss for each training link, which are the items then; 0: nodes are
  ///                      Seven parameters: the last two are of few runs.
  EpochSeeds(const Dataset& dataset, std::uint32_t seed, std::size_t global_batch, int rank, int num_ranks,
             const Parts& parts = kNoParts, int terms = 0);

  /// Before the first epoch. @param class_weights  as class_weights_of()
  void weigh_by(std::vector<float> class_weights) { class_weights_ = std::move(class_weights); }

  std::size_t num_steps() const { return num_steps_; }

  /// Shuffles for `epoch`, from 1, unless that was prepared. Requests of an earlier epoch are no longer valid.
  /// @return  this rank's share of every step from `first_step` on; borrows from this
  std::vector<BatchRequest> start(int epoch, std::size_t first_step);

  /// Shuffles for `epoch` while the one that was started goes on, so that start() need not.
  void prepare(int epoch);

  /// [items] of the epoch that was started; the seeds of its requests are parts of it.
  std::span<const NodeId> order() const { return order_; }

  /// Known labels of all ranks' seeds in a step of the epoch that was started; of links terms of the loss.
  std::int64_t num_labels(std::size_t step) const { return num_labels_[step]; }

  /// What the loss of a step, summed over all ranks' seeds, is divided by: num_labels(), or where classes have weights
  /// the sum of the seeds' weights, as torch's cross entropy has it; 1 where that is 0.
  double loss_divisor(std::size_t step) const { return divisors_[step]; }
  /// The sum over the steps before `end_step`.
  double loss_divisor_before(std::size_t end_step) const;

 private:
  static const Parts kNoParts;

  SeedRange deal(std::span<NodeId> order, std::size_t step) const;
  std::span<const NodeId> seeds_of(std::size_t step) const;
  std::int64_t count_labels(std::size_t step) const;
  double sum_of_weights(std::size_t step) const;

  const Dataset& dataset_;
  const int terms_of_link_;          // 0: items are nodes
  const std::vector<NodeId> links_;  // 0, 1, ... , or empty
  const std::span<const NodeId> items_;
  const std::uint32_t seed_;
  const std::size_t global_batch_, num_steps_;
  const int rank_, num_ranks_;
  const Parts& parts_;
  std::vector<NodeId> order_;           // a permutation of items_, each step's seeds by rank
  std::vector<SeedRange> shares_;       // [num_steps_] of this rank
  std::vector<NodeId> prepared_order_;  // of prepared_epoch_, as the next
  std::vector<SeedRange> prepared_shares_;
  int prepared_epoch_ = 0;                // 0 = none
  std::vector<std::int64_t> num_labels_;  // [num_steps_]
  std::vector<float> class_weights_;      // [classes], or empty
  std::vector<double> divisors_;          // [num_steps_]
};

}  // namespace salient
