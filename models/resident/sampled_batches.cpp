// models/resident/sampled_batches.cpp - see sampled_batches.h.
#include "models/resident/sampled_batches.h"

#include "core/error.h"

namespace salient {

SampledBatches::SampledBatches(DeviceCsr graph, const SamplingRule& rule, std::int64_t max_seeds, SamplingLead lead,
                               Places places, const std::optional<TreeLinks>& links)
    : seeds_of_item_(links ? links->seeds_of_link() : 1),
      announced_(make_device_array<SeedBatch>(kMaxAnnounced)),
      current_(num_trees(lead) - 1) {
  for (std::size_t i = 0; i < num_trees(lead); ++i) trees_.emplace_back(graph, rule, max_seeds, places, links);
}

void SampledBatches::start(std::span<const NodeId> order) {
  cuda_check(cudaDeviceSynchronize());  // earlier batches read the order
  if (order.size() > order_size_) {
    order_ = make_device_array<NodeId>(order.size());
    order_size_ = order.size();
  }
  cuda_check(cudaMemcpy(order_.get(), order.data(), order.size_bytes(), cudaMemcpyHostToDevice));
  for (SampledTree& tree : trees_) tree.clear_counts();
  begun_.clear();
  current_ = trees_.size() - 1;
  num_seeds_ = 0;
}

/// Begins the batch that is `distance` batches ahead, and samples what its work at that distance expects.
void SampledBatches::refill(std::size_t distance, cudaStream_t stream) {
  SampledTree& tree = trees_[tree_behind(current_, distance)];
  tree.begin(batch_of(begun_[distance]), stream);
  if (distance < num_with_levels()) tree.sample_levels(stream);
  if (distance < num_complete()) tree.sample_last_hop(stream);
}

std::size_t SampledBatches::begin(const StepHeader& header, std::span<const StepHeader> ahead, cudaStream_t stream) {
  current_ = tree_behind(current_, 1);
  if (!begun_.empty()) begun_.erase(begun_.begin());
  for (std::size_t distance = 0; distance < trees_.size(); ++distance) {
    std::optional<StepHeader> wanted;
    if (distance == 0)
      wanted = header;
    else if (distance <= ahead.size())
      wanted = ahead[distance - 1];
    const bool is_new = distance == begun_.size();
    if (is_new) begun_.emplace_back();
    require(!begun_[distance] || begun_[distance] == wanted, "batches come in the order that was said");
    if (!is_new && begun_[distance] == wanted) continue;
    begun_[distance] = wanted;
    refill(distance, stream);
  }
  num_seeds_ += num_seeds_of(header);
  return current_;
}

void SampledBatches::begin_all(std::span<const StepHeader> rest, std::size_t count, cudaStream_t stream) {
  require(is_at_first_tree() && rest.size() >= count, "all batches are there, the first one in the first tree");
  begin(rest.front(), rest.subspan(1), stream);
  std::vector<SeedBatch> announced;
  for (std::size_t i = 1; i < count; ++i) {
    const std::size_t last = i + num_with_levels();
    current_ = tree_behind(current_, 1);
    begun_.erase(begun_.begin());
    begun_.push_back(last < rest.size() ? std::optional(rest[last]) : std::nullopt);
    announced.push_back(batch_of(begun_.back()));
    num_seeds_ += num_seeds_of(rest[i]);
  }
  announce(announced, announced_.get(), stream);
}

StepCounts SampledBatches::counts(cudaStream_t stream) const {
  StepCounts result;
  for (std::size_t i = 0; i < trees_.size(); ++i) {
    const bool is_ahead = !begun_.empty() && i != current_;
    const std::vector<std::int64_t> edges = trees_[i].num_edges(
        is_ahead ? SampledTree::Counted::kBatchesBefore : SampledTree::Counted::kAllBatches, stream);
    result.hop_edges.resize(edges.size());
    for (std::size_t h = 0; h < edges.size(); ++h) result.hop_edges[h] += edges[h];
  }
  std::int64_t nodes = num_seeds_;
  for (const std::int64_t edges : result.hop_edges) result.hop_nodes.push_back(nodes += edges);
  return result;
}

}  // namespace salient
