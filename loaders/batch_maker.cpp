// loaders/batch_maker.cpp - see batch_maker.h.
#include "loaders/batch_maker.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/time_gap.h"
#include "loaders/cached_rows.h"
#include "loaders/gather_labels.h"
#include "loaders/gather_paged_rows.h"
#include "loaders/gather_rows.h"
#include "loaders/gather_sparse_rows.h"
#include "loaders/node_set.h"
#include "loaders/pair_features.h"

namespace salient {

std::unique_ptr<BatchSampler> make_host_sampler(const Dataset& dataset, SamplingRule rule,
                                                const std::optional<TimeRule>& time) {
  if (!time) return std::make_unique<HostBatchSampler>(dataset.graph, std::move(rule));
  const auto refuse = [&](const std::string& why) {
    fail(ErrorKind::kUsage, "neighbours are to be drawn by time, and " + dataset.name + why);
  };
  if (dataset.types.is_typed()) refuse(" has node types");
  if (!dataset.has_edge_times) refuse(" has no times of edges");
  if (!dataset.has_node_times) refuse(" has no times of nodes");
  return std::make_unique<TemporalBatchSampler>(dataset.graph, std::move(rule), *time, dataset.node_times);
}

BatchMaker::BatchMaker(const Dataset& dataset, SamplingRule rule, const ResidentView& data,
                       std::span<const NodeId> row_of, Degrees degrees)
    : BatchMaker(dataset, make_host_sampler(dataset, std::move(rule), {}), data, row_of, degrees) {}

BatchMaker::BatchMaker(const Dataset& dataset, std::unique_ptr<BatchSampler> sampler, const ResidentView& data,
                       std::span<const NodeId> row_of, Degrees degrees)
    : dataset_(&dataset),
      sampler_(std::move(sampler)),
      residency_(data.features),
      cached_(data.cached),
      row_of_(row_of),
      degrees_(degrees),
      typed_(dataset, data) {
  const bool is_typed = dataset.types.is_typed();
  require((residency_ == Residency::kCached) == (cached_ != nullptr || !data.type_cached.empty()),
          "a cache where the features are cached");
  require((residency_ == Residency::kPartitioned) == (data.part != nullptr),
          "a part where the features are partitioned");
  if (data.part != nullptr) held_.emplace(*data.part);
  require((cached_ == nullptr && !held_) || row_of.empty(), "caches and parts know nodes by their ids");
  require(residency_ == Residency::kHost || is_typed || !dataset.has_sparse_features(),
          "sparse rows are in host memory");
  require(!is_typed || is_x_from_host(residency_) || has_one_table(dataset) ||
              data.type_rows.size() == dataset.types.node_types.size(),
          "rows of the types of a typed graph are those of each type");
  require(!is_typed || row_of.empty() || has_one_table(dataset), "rows of types are in the order of their nodes");
  require(residency_ == Residency::kDevice || dataset.has_sparse_features() ||
              dataset.features.row_bytes == dataset.feature_row_bytes(),
          "feature rows are feature_dim wide");
}

void BatchMaker::carry(EntryParts entries, std::span<const float> row_weights) {
  require(!entries.features || dataset_->edge_feature_dim > 0, "the edges of the data set have features");
  require(!entries.weights || dataset_->has_edge_weights, "the edges of the data set have weights");
  require(!entries.row_weights || row_weights.size() == dataset_->num_nodes(), "every row has a weight");
  entries_ = entries;
  row_weights_ = row_weights;
  if (entries.any()) sampler_->record_places();
}

void BatchMaker::add_pair_features() {
  has_pair_features_ = true;
  sampler_->record_places();
}

void BatchMaker::sample(const BatchRequest& request, Batch& batch) {
  if (links_) links_->make(request.seeds, request.batch, request.key);
  seeds_ = links_ ? links_->seeds() : request.seeds;
  const MfgShape& shape = sampler_->sample(seeds_, request.key);
  batch.key = request.key;
  batch.layout = lay_out_batch(shape, static_cast<LocalId>(seeds_.size()), *dataset_, residency_,
                               {.degrees = degrees_,
                                .num_pairs = links_ ? static_cast<LocalId>(links_->num_pairs()) : 0,
                                .entries = entries_,
                                .has_pair_features = has_pair_features_});
}

void BatchMaker::write_sparse_rows(BatchLayout& layout, std::byte* slab) const {
  const auto num_nodes = static_cast<std::size_t>(layout.num_nodes);
  const auto* const nodes = reinterpret_cast<const NodeId*>(slab + layout.nodes);
  auto* const begin = reinterpret_cast<LocalId*>(slab + layout.x_begin);
  place_values(layout, begin_of_rows(dataset_->sparse_features, nodes, num_nodes, begin));
  gather_sparse_rows(dataset_->sparse_features, nodes, num_nodes,
                     {.begin = begin,
                      .columns = reinterpret_cast<LocalId*>(slab + layout.x_columns),
                      .values = slab + layout.x,
                      .value_bytes = size_of(layout.feature_type)});
}

/// @return  the end of what it wrote, in the slab
std::size_t BatchMaker::write_missed_rows(const BatchLayout& layout, std::byte* slab) {
  const std::span nodes(reinterpret_cast<const NodeId*>(slab + layout.nodes),
                        static_cast<std::size_t>(layout.num_nodes));
  find_cached_rows(*cached_, nodes, reinterpret_cast<std::uint32_t*>(slab + layout.x_rows), missed_);
  gather_rows(dataset_->features, missed_.data(), missed_.size(), slab + layout.x_missed);
  return layout.x_missed + missed_.size() * dataset_->features.row_bytes;
}

/// Where the sampler writes the hops.
void BatchMaker::list_hops(const BatchLayout& layout, std::byte* slab) {
  const auto locals = [&](std::size_t offset) { return reinterpret_cast<LocalId*>(slab + offset); };
  hop_memory_.clear();
  for (const HopLayout& hop : layout.hops) hop_memory_.push_back({locals(hop.indptr), locals(hop.indices)});
  if (!entries_.any() && !has_pair_features_) return;
  std::size_t num_entries = 0;
  for (const HopLayout& hop : layout.hops) num_entries += static_cast<std::size_t>(hop.num_edges);
  places_.resize(entries_.places ? 0 : num_entries);
  std::int64_t* place = places_.data();
  for (std::size_t h = 0; h < layout.hops.size(); ++h) {
    hop_memory_[h].places = entries_.places ? reinterpret_cast<std::int64_t*>(slab + layout.hops[h].places) : place;
    if (!entries_.places) place += layout.hops[h].num_edges;
  }
}

void BatchMaker::write(Batch& batch, std::byte* slab) {
  const BatchLayout& layout = batch.layout;
  auto* const nodes = reinterpret_cast<NodeId*>(slab + layout.nodes);
  list_hops(layout, slab);
  auto* const degrees = reinterpret_cast<NodeDegree*>(slab + layout.degrees);
  const TypedBatchWriter::Memory& typed = typed_.memory_in(layout, slab);
  const auto num_nodes = static_cast<std::size_t>(layout.num_nodes);
  times_.resize(entries_.gaps ? num_nodes : 0);
  sampler_->copy_to({.nodes = nodes,
                     .hops = hop_memory_,
                     .degrees = degrees_ == Degrees::kOfEveryNode ? degrees : nullptr,
                     .typed_hops = typed.hops,
                     .nodes_of_type = typed.nodes,
                     .times = entries_.gaps ? times_.data() : nullptr});
  write_weights(layout, slab);
  write_times(layout, slab);
  if (!row_of_.empty())
    for (std::size_t i = 0; i < num_nodes; ++i) nodes[i] = row_of_[nodes[i]];
  if (links_) std::ranges::copy(links_->pairs(), reinterpret_cast<LocalId*>(slab + layout.pairs));
  write_features(batch, slab);
  write_labels(layout, slab);
}

/// Of a typed graph those of one type: a batch with seeds of others has none, which every task writes as bits that are
/// all 1.
void BatchMaker::write_labels(const BatchLayout& layout, std::byte* slab) const {
  const LabelTable labels = dataset_->label_table();
  const std::uint64_t count = dataset_->types.is_typed() ? dataset_->types.target().count : dataset_->num_nodes();
  const auto is_labelled = [&](NodeId node) { return node >= labels.first && node - labels.first < count; };
  if (!dataset_->types.is_typed() || std::ranges::all_of(seeds_, is_labelled))
    return gather_labels(labels, seeds_, slab + layout.y);
  std::memset(slab + layout.y, 0xFF, seeds_.size() * labels.type.row_bytes());
}

/// Of entries, and of the rows of nodes, whose ids the slab has.
void BatchMaker::write_weights(const BatchLayout& layout, std::byte* slab) const {
  const float* const weights = dataset_->graph.entries.weights.data();
  for (std::size_t h = 0; entries_.weights && h < layout.hops.size(); ++h) {
    auto* const of_entries = reinterpret_cast<float*>(slab + layout.hops[h].weights);
    for (LocalId e = 0; e < layout.hops[h].num_edges; ++e) of_entries[e] = weights[hop_memory_[h].places[e]];
  }
  if (!entries_.row_weights) return;
  const auto* const nodes = reinterpret_cast<const NodeId*>(slab + layout.nodes);
  auto* const of_rows = reinterpret_cast<float*>(slab + layout.row_weights);
  for (LocalId i = 0; i < layout.num_nodes; ++i) of_rows[i] = row_weights_[nodes[i]];
}

/// Of entries how long ago they were, and of pairs what their entries say; nodes of the slab are ids yet.
void BatchMaker::write_times(const BatchLayout& layout, std::byte* slab) const {
  const std::span<const std::int64_t> times = dataset_->graph.entries.times;
  for (std::size_t h = 0; entries_.gaps && h < layout.hops.size(); ++h) {
    auto* const gaps = reinterpret_cast<float*>(slab + layout.hops[h].gaps);
    const MfgMemory::Hop& hop = hop_memory_[h];
    for (LocalId row = 0; row < layout.hops[h].num_dst; ++row)
      for (LocalId e = hop.indptr[row]; e < hop.indptr[row + 1]; ++e)
        gaps[e] = log_gap(times_[static_cast<std::size_t>(row)], times[static_cast<std::size_t>(hop.places[e])]);
  }
  if (!has_pair_features_) return;
  const MfgMemory::Hop& of_seeds = hop_memory_.back();
  const auto* const nodes = reinterpret_cast<const NodeId*>(slab + layout.nodes);
  write_pair_features({.indptr = of_seeds.indptr,
                       .indices = of_seeds.indices,
                       .places = of_seeds.places,
                       .nodes = {nodes, static_cast<std::size_t>(layout.num_nodes)},
                       .times = times},
                      links_->pairs(), links_->seed_times(), reinterpret_cast<float*>(slab + layout.pair_x));
}

void BatchMaker::write_features(Batch& batch, std::byte* slab) {
  const BatchLayout& layout = batch.layout;
  for (std::size_t h = 0; entries_.features && h < layout.hops.size(); ++h)
    gather_rows(dataset_->edge_features, hop_memory_[h].places, static_cast<std::size_t>(layout.hops[h].num_edges),
                slab + layout.hops[h].edge_x);
  if (!layout.types.empty() && layout.feature_dim == 0)
    return typed_.write_features(batch, slab, held_ ? &*held_ : nullptr);
  const auto* const nodes = reinterpret_cast<const NodeId*>(slab + layout.nodes);
  const auto num_nodes = static_cast<std::size_t>(layout.num_nodes);
  if (dataset_->has_sparse_features())
    write_sparse_rows(batch.layout, slab);
  else if (residency_ == Residency::kHost && has_paged_rows_)
    gather_paged_rows(dataset_->features, nodes, num_nodes, slab + layout.x);
  else if (residency_ == Residency::kHost)
    gather_features(dataset_->features, nodes, num_nodes, slab + layout.x);
  if (held_) {
    held_->start(batch);
    held_->write(0, {nodes, num_nodes}, slab + layout.x, batch);
    held_->finish(batch);
  }
  if (residency_ == Residency::kCached) batch.layout.prepared_bytes = write_missed_rows(layout, slab);
}

}  // namespace salient
