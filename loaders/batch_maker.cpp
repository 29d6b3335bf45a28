// loaders/batch_maker.cpp - see batch_maker.h.
#include "loaders/batch_maker.h"

#include <cstring>
#include <utility>

#include "engine/core/error.h"
#include "loaders/gather_rows.h"

namespace salient {
namespace {

template <class T>
void put(const std::vector<T>& values, std::byte* at) {
  if (!values.empty()) std::memcpy(at, values.data(), values.size() * sizeof(T));
}

}  // namespace

BatchMaker::BatchMaker(const Dataset& dataset, std::vector<int> fanouts, Replacement replacement, FeaturePlace place,
                       std::span<const NodeId> row_of)
    : dataset_(&dataset), sampler_(dataset.graph, std::move(fanouts), replacement), place_(place), row_of_(row_of) {
  require(
      place == FeaturePlace::kDevice ||
          dataset.features.row_bytes == static_cast<std::size_t>(dataset.feature_dim) * size_of(dataset.feature_type),
      "feature rows are feature_dim wide");
}

void BatchMaker::sample(const BatchRequest& request, Batch& batch) {
  sampler_.sample(request.seeds, request.key, mfg_);
  batch.key = request.key;
  batch.layout = lay_out_batch(mfg_, static_cast<LocalId>(request.seeds.size()), dataset_->feature_dim,
                               dataset_->feature_type, place_);
  if (row_of_.empty()) return;
  rows_.resize(mfg_.nodes.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) rows_[i] = row_of_[mfg_.nodes[i]];
}

void BatchMaker::write(const Batch& batch, std::byte* slab) const {
  const BatchLayout& layout = batch.layout;
  const std::vector<NodeId>& rows = row_of_.empty() ? mfg_.nodes : rows_;
  if (place_ == FeaturePlace::kHost) gather_rows(dataset_->features, rows.data(), rows.size(), slab + layout.x);
  auto* const y = reinterpret_cast<std::int32_t*>(slab + layout.y);
  for (std::size_t i = 0; i < static_cast<std::size_t>(layout.num_seeds); ++i) y[i] = dataset_->labels[mfg_.nodes[i]];
  put(rows, slab + layout.nodes);
  for (std::size_t h = 0; h < mfg_.hops.size(); ++h) {
    put(mfg_.hops[h].indptr, slab + layout.hops[h].indptr);
    put(mfg_.hops[h].indices, slab + layout.hops[h].indices);
  }
}

}  // namespace salient
