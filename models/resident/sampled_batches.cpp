// models/resident/sampled_batches.cpp - see sampled_batches.h.
#include "models/resident/sampled_batches.h"

#include "core/error.h"

namespace salient {

SampledBatches::SampledBatches(DeviceCsr graph, const std::vector<int>& fanouts, Replacement replacement,
                               std::int64_t max_seeds)
    : trees_{SampledTree(graph, fanouts, replacement, max_seeds), SampledTree(graph, fanouts, replacement, max_seeds)} {
}

void SampledBatches::start(std::span<const NodeId> order) {
  cuda_check(cudaDeviceSynchronize());  // earlier batches read the order
  if (order.size() > order_size_) {
    order_ = make_device_array<NodeId>(order.size());
    order_size_ = order.size();
  }
  cuda_check(cudaMemcpy(order_.get(), order.data(), order.size_bytes(), cudaMemcpyHostToDevice));
  for (SampledTree& tree : trees_) tree.clear_counts();
  ahead_.reset();
  num_seeds_ = 0;
}

std::size_t SampledBatches::begin(const StepHeader& header, const std::optional<StepHeader>& next,
                                  cudaStream_t stream) {
  require(!ahead_ || *ahead_ == header, "batches come in the order that was said");
  current_ = (current_ + 1) % kNumTrees;
  if (!ahead_) {
    trees_[current_].begin(header, order_.get(), stream);
    trees_[current_].sample(stream);
  }
  trees_[(current_ + 1) % kNumTrees].begin(next.value_or(StepHeader{}), order_.get(), stream);
  ahead_ = next;
  num_seeds_ += header.num_seeds;
  return current_;
}

SageCounts SampledBatches::counts(cudaStream_t stream) const {
  SageCounts result;
  for (std::size_t i = 0; i < kNumTrees; ++i) {
    const bool is_ahead = ahead_ && i != current_;
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
