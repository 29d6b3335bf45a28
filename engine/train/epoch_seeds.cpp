// engine/train/epoch_seeds.cpp - see epoch_seeds.h.
#include "engine/train/epoch_seeds.h"

#include <algorithm>
#include <span>

#include "sampler/seed_order.h"

namespace salient {

EpochSeeds::EpochSeeds(const Dataset& dataset, std::uint32_t seed, std::size_t global_batch, int rank, int num_ranks)
    : dataset_(dataset),
      seed_(seed),
      global_batch_(global_batch),
      num_steps_(num_global_batches(dataset.train.size(), global_batch)),
      rank_(rank),
      num_ranks_(num_ranks),
      order_(dataset.train.begin(), dataset.train.end()),
      num_labels_(num_steps_) {}

std::vector<BatchRequest> EpochSeeds::start(int epoch, std::size_t first_step) {
  if (prepared_epoch_ != epoch) prepare(epoch);
  order_.swap(prepared_order_);
  prepared_epoch_ = 0;
  for (std::size_t step = 0; step < num_steps_; ++step) num_labels_[step] = count_labels(step);
  std::vector<BatchRequest> requests;
  for (std::size_t step = first_step; step < num_steps_; ++step) {
    const SeedRange share = rank_share(order_.size(), global_batch_, step, rank_, num_ranks_);
    requests.push_back(
        {.key = {.seed = seed_, .epoch = static_cast<std::uint32_t>(epoch), .batch = static_cast<std::uint32_t>(step)},
         .seeds = std::span<const NodeId>(order_).subspan(share.begin, share.count)});
  }
  return requests;
}

void EpochSeeds::prepare(int epoch) {
  prepared_order_.assign(dataset_.train.begin(), dataset_.train.end());
  shuffle_seeds(prepared_order_, seed_, static_cast<std::uint32_t>(epoch));
  prepared_epoch_ = epoch;
}

std::int64_t EpochSeeds::count_labels(std::size_t step) const {
  const std::size_t first = step * global_batch_, count = std::min(global_batch_, order_.size() - first);
  if (dataset_.task == Task::kMultiClass) return static_cast<std::int64_t>(count);  // known, as open_dataset() checks
  const LabelTable labels = dataset_.label_table();
  std::int64_t sum = 0;
  for (const NodeId seed : std::span(order_).subspan(first, count)) sum += labels.num_known(seed);
  return sum;
}

}  // namespace salient
