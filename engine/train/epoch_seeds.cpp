// engine/train/epoch_seeds.cpp - see epoch_seeds.h.
#include "engine/train/epoch_seeds.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "sampler/seed_dealing.h"

namespace salient {

const Parts EpochSeeds::kNoParts{};

namespace {

std::vector<NodeId> numbers_of_links(const Dataset& dataset, int terms) {
  std::vector<NodeId> numbers(terms > 0 ? dataset.links[kTrainLinks].size() : 0);
  std::iota(numbers.begin(), numbers.end(), NodeId{0});
  return numbers;
}

}  // namespace

EpochSeeds::EpochSeeds(const Dataset& dataset, std::uint32_t seed, std::size_t global_batch, int rank, int num_ranks,
                       const Parts& parts, int terms)
    : dataset_(dataset),
      terms_of_link_(terms),
      links_(numbers_of_links(dataset, terms)),
      items_(terms > 0 ? std::span(links_) : dataset.train),
      seed_(seed),
      global_batch_(global_batch),
      num_steps_(num_global_batches(items_.size(), global_batch)),
      rank_(rank),
      num_ranks_(num_ranks),
      parts_(parts),
      order_(items_.begin(), items_.end()),
      num_labels_(num_steps_),
      divisors_(num_steps_) {}

std::vector<BatchRequest> EpochSeeds::start(int epoch, std::size_t first_step) {
  if (prepared_epoch_ != epoch) prepare(epoch);
  order_.swap(prepared_order_);
  shares_.swap(prepared_shares_);
  prepared_epoch_ = 0;
  for (std::size_t step = 0; step < num_steps_; ++step) {
    num_labels_[step] = count_labels(step);
    divisors_[step] = class_weights_.empty() ? static_cast<double>(num_labels_[step]) : sum_of_weights(step);
  }
  std::vector<BatchRequest> requests;
  for (std::size_t step = first_step; step < num_steps_; ++step) {
    requests.push_back(
        {.key = {.seed = seed_, .epoch = static_cast<std::uint32_t>(epoch), .batch = static_cast<std::uint32_t>(step)},
         .seeds = std::span<const NodeId>(order_).subspan(shares_[step].begin, shares_[step].count),
         .batch = terms_of_link_ > 0 ? seeds_of(step) : std::span<const NodeId>()});
  }
  return requests;
}

void EpochSeeds::prepare(int epoch) {
  prepared_order_.assign(items_.begin(), items_.end());
  shuffle_seeds(prepared_order_, seed_, static_cast<std::uint32_t>(epoch));
  prepared_shares_.resize(num_steps_);
  for (std::size_t step = 0; step < num_steps_; ++step) prepared_shares_[step] = deal(prepared_order_, step);
  prepared_epoch_ = epoch;
}

/// @return  this rank's share of a step, whose seeds are sorted by rank then
SeedRange EpochSeeds::deal(std::span<NodeId> order, std::size_t step) const {
  if (parts_.owner.empty()) return rank_share(order.size(), global_batch_, step, rank_, num_ranks_);
  const std::size_t first = step * global_batch_, count = std::min(global_batch_, order.size() - first);
  const std::vector<std::size_t> begin =
      deal_to_owners(order.subspan(first, count), parts_.owner, parts_.num_parts, num_ranks_);
  const auto rank = static_cast<std::size_t>(rank_);
  return {first + begin[rank], begin[rank + 1] - begin[rank]};
}

double EpochSeeds::loss_divisor_before(std::size_t end_step) const {
  return std::accumulate(divisors_.begin(), divisors_.begin() + static_cast<std::ptrdiff_t>(end_step), 0.0);
}

/// All ranks' seeds.
std::span<const NodeId> EpochSeeds::seeds_of(std::size_t step) const {
  const std::size_t first = step * global_batch_;
  return std::span(order_).subspan(first, std::min(global_batch_, order_.size() - first));
}

std::int64_t EpochSeeds::count_labels(std::size_t step) const {
  const std::span<const NodeId> seeds = seeds_of(step);
  if (terms_of_link_ > 0) return std::ssize(seeds) * terms_of_link_;
  if (dataset_.task == Task::kMultiClass) return std::ssize(seeds);  // known, as open_dataset() checks
  const LabelTable labels = dataset_.label_table();
  std::int64_t sum = 0;
  for (const NodeId seed : seeds) sum += labels.num_known(seed);
  return sum;
}

/// By class, so that it does not depend on how a step's seeds are dealt.
double EpochSeeds::sum_of_weights(std::size_t step) const {
  std::vector<std::int64_t> nodes_of(class_weights_.size(), 0);
  for (const NodeId seed : seeds_of(step)) ++nodes_of[static_cast<std::size_t>(dataset_.class_of(seed))];
  double sum = 0;
  for (std::size_t c = 0; c < nodes_of.size(); ++c)
    sum += static_cast<double>(nodes_of[c]) * static_cast<double>(class_weights_[c]);
  return sum > 0 ? sum : 1;
}

}  // namespace salient
