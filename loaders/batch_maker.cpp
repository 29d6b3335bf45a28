// loaders/batch_maker.cpp - see batch_maker.h.
#include "loaders/batch_maker.h"

#include <utility>

#include "engine/core/error.h"
#include "loaders/gather_rows.h"

namespace salient {

BatchMaker::BatchMaker(const Dataset& dataset, std::vector<int> fanouts, Replacement replacement, FeaturePlace place,
                       std::span<const NodeId> row_of)
    : BatchMaker(dataset, std::make_unique<HostBatchSampler>(dataset.graph, std::move(fanouts), replacement), place,
                 row_of) {}

BatchMaker::BatchMaker(const Dataset& dataset, std::unique_ptr<BatchSampler> sampler, FeaturePlace place,
                       std::span<const NodeId> row_of)
    : dataset_(&dataset), sampler_(std::move(sampler)), place_(place), row_of_(row_of) {
  require(
      place == FeaturePlace::kDevice ||
          dataset.features.row_bytes == static_cast<std::size_t>(dataset.feature_dim) * size_of(dataset.feature_type),
      "feature rows are feature_dim wide");
}

void BatchMaker::sample(const BatchRequest& request, Batch& batch) {
  const MfgShape& shape = sampler_->sample(request.seeds, request.key);
  seeds_ = request.seeds;
  batch.key = request.key;
  batch.layout = lay_out_batch(shape, static_cast<LocalId>(request.seeds.size()), *dataset_, place_);
}

void BatchMaker::write(const Batch& batch, std::byte* slab) {
  const BatchLayout& layout = batch.layout;
  const auto locals = [&](std::size_t offset) { return reinterpret_cast<LocalId*>(slab + offset); };
  auto* const nodes = reinterpret_cast<NodeId*>(slab + layout.nodes);
  hop_memory_.clear();
  for (const HopLayout& hop : layout.hops) hop_memory_.push_back({locals(hop.indptr), locals(hop.indices)});
  sampler_->copy_to({nodes, hop_memory_});
  const auto num_nodes = static_cast<std::size_t>(layout.num_nodes);
  if (!row_of_.empty())
    for (std::size_t i = 0; i < num_nodes; ++i) nodes[i] = row_of_[nodes[i]];
  if (place_ == FeaturePlace::kHost) gather_rows(dataset_->features, nodes, num_nodes, slab + layout.x);
  gather_rows(dataset_->label_table().rows(), seeds_.data(), seeds_.size(), slab + layout.y);
}

}  // namespace salient
