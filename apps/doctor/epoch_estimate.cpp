// apps/doctor/epoch_estimate.cpp - see epoch_estimate.h.
#include "apps/doctor/epoch_estimate.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "engine/plan/graph_types_of.h"
#include "models/describe/costs.h"
#include "sampler/mfg.h"
#include "sampler/mfg_types.h"
#include "sampler/neighbor_sampler.h"

namespace salient::doctor {
namespace {

constexpr std::uint32_t kProbes = 3;

LayerList layers_of(const Dataset& dataset, const EpochCase& epoch) {
  const bool is_typed = dataset.types.is_typed();
  return describe({.kind = is_typed ? ModelKind::kRgcn : ModelKind::kSage,
                   .in_dim = is_typed ? 0 : dataset.feature_dim,
                   .hidden_dim = epoch.hidden,
                   .num_classes = dataset.num_classes,
                   .num_layers = static_cast<int>(epoch.fanouts.size()),
                   .types = graph_types_of(dataset.types)});
}

/// Values that are computed with of a row of so many columns: of sparse features those that a row of the mean has.
double width_of(const Dataset& dataset, std::int64_t columns, bool reads_features) {
  if (!reads_features || !dataset.has_sparse_features()) return static_cast<double>(columns);
  return static_cast<double>(dataset.sparse_features.num_values()) / static_cast<double>(dataset.num_nodes());
}

void add_batch(BatchWork& work, const Dataset& dataset, const LayerList& layers, const MfgShape& shape) {
  const auto hop_of = [&](int layer) -> const MfgShape::Hop& { return shape.hops[static_cast<std::size_t>(layer)]; };
  for (const RowProduct& product : products_of(layers, ProductOrder::kAsListed)) {
    const int passes = product.reads_features ? 2 : 3;  // forward, gradient of the weight, and of the input
    work.operations += 2.0 * product.share * passes * hop_of(product.layer).num_dst *
                       width_of(dataset, product.in, product.reads_features) * static_cast<double>(product.out);
  }
  for (const RowSum& sum : sums_of(layers))
    work.aggregated_bytes += (sum.reads_features ? 1 : 2) * 4.0 * sum.share * hop_of(sum.layer).num_edges *
                             width_of(dataset, sum.width, sum.reads_features);
  const auto nodes = static_cast<double>(shape.num_nodes);
  double edges = 0;
  for (const MfgShape::Hop& hop : shape.hops) edges += hop.num_edges;
  const double bytes_of_row = static_cast<double>(dataset.feature_bytes()) / static_cast<double>(dataset.num_nodes());
  work.nodes += nodes;
  work.edges += edges;
  work.row_bytes += nodes * bytes_of_row;
  work.slab_bytes += nodes * (bytes_of_row + sizeof(NodeId)) + edges * sizeof(LocalId);
}

// ---- typed graphs ----------------------------------------------------------------------------------------

/// A sampled batch of a typed graph.
struct TypedBatch {
  const Mfg& mfg;
  const MfgShape& shape;  ///< with its typed parts

  double rows_of(const RowProduct& product, int num_layers) const {
    if (product.layer == num_layers) return shape.hops.back().num_dst;  // the head
    const auto layer = static_cast<std::size_t>(product.layer);
    const TypedHopShape& typed = shape.typed_hops[layer];
    const bool is_of_sources = product.rows == RowSet::kSources;
    if (product.relation != kEvery && !is_of_sources) {
      const auto relation = static_cast<std::size_t>(product.relation);
      return typed.relation_begin[relation + 1] - typed.relation_begin[relation];
    }
    if (product.type == kEvery) return is_of_sources ? shape.hops[layer].num_src : shape.hops[layer].num_dst;
    return (is_of_sources ? typed.num_src_of_type : typed.num_dst_of_type)[static_cast<std::size_t>(product.type)];
  }

  double edges_of(const RowSum& sum) const {
    const MfgHop& hop = mfg.hops[static_cast<std::size_t>(sum.layer)];
    if (sum.relation == kEvery) return static_cast<double>(hop.indices.size());
    double edges = 0;
    for (std::size_t row = 0; row < hop.row_relation.size(); ++row)
      if (int{hop.row_relation[row]} == sum.relation) edges += hop.indptr[row + 1] - hop.indptr[row];
    return edges;
  }
};

/// Bytes of a row of a type's features, and the numbers in it; of sparse ones their mean, of none a learned row's.
struct TypeRow {
  double bytes, values;
};
TypeRow row_of_type(const Dataset& dataset, std::size_t type, int hidden) {
  const FeatureShape& shape = dataset.types.node_types[type].features;
  if (shape.dim == 0) return {static_cast<double>(hidden) * sizeof(float), static_cast<double>(hidden)};
  if (!shape.is_sparse()) return {static_cast<double>(shape.row_bytes()), static_cast<double>(shape.dim)};
  const SparseRowTable& sparse = dataset.type_features[type].sparse;
  const auto count = static_cast<double>(dataset.types.node_types[type].count);
  return {static_cast<double>(sparse.num_bytes(size_of(shape.type))) / count,
          static_cast<double>(sparse.num_values()) / count};
}

void add_typed_batch(BatchWork& work, const Dataset& dataset, const LayerList& layers, int hidden,
                     const TypedBatch& batch) {
  for (const RowProduct& product : products_of(layers, ProductOrder::kAsListed)) {
    const int passes = product.reads_features ? 2 : 3;
    const double in = product.reads_features
                          ? row_of_type(dataset, static_cast<std::size_t>(product.type), hidden).values
                          : static_cast<double>(product.in);
    work.operations += 2.0 * passes * batch.rows_of(product, layers.num_layers) * in * static_cast<double>(product.out);
  }
  for (const RowSum& sum : sums_of(layers))
    work.aggregated_bytes += 2 * 4.0 * batch.edges_of(sum) * static_cast<double>(sum.width);
  const auto edges = static_cast<double>(batch.mfg.num_edges());
  work.nodes += batch.shape.num_nodes;
  work.edges += edges;
  work.slab_bytes += static_cast<double>(batch.shape.num_nodes) * sizeof(NodeId) + edges * sizeof(LocalId);
  for (std::size_t t = 0; t < dataset.types.node_types.size(); ++t) {
    const double bytes = batch.shape.num_nodes_of_type[t] * row_of_type(dataset, t, hidden).bytes;
    work.row_bytes += bytes;
    (dataset.types.node_types[t].features.dim > 0 ? work.slab_bytes : work.learned_bytes) += bytes;
  }
}

/// Bytes of the gradients that a step exchanges.
double gradient_bytes(const LayerList& layers, const BatchWork& work) {
  return sizeof(float) * static_cast<double>(num_parameters(layers) - num_learned(layers)) + work.learned_bytes;
}

}  // namespace

BatchWork work_of_batches(const Dataset& dataset, const EpochCase& epoch) {
  NeighborSampler sampler(dataset.graph, {epoch.fanouts});
  const LayerList layers = layers_of(dataset, epoch);
  MfgTypes types;
  Mfg mfg;
  BatchWork work;
  const auto size = static_cast<std::size_t>(epoch.batch_size);
  std::uint32_t count = 0;
  for (; count < kProbes && count * size < dataset.train.size(); ++count) {
    const auto seeds = dataset.train.subspan(count * size, std::min(size, dataset.train.size() - count * size));
    sampler.sample(seeds, {.seed = 1, .epoch = 1, .batch = count}, mfg);
    MfgShape shape = shape_of(mfg);
    if (dataset.types.is_typed()) {
      types.count(mfg, *dataset.slots, shape);
      add_typed_batch(work, dataset, layers, epoch.hidden, {mfg, shape});
    } else {
      add_batch(work, dataset, layers, shape);
    }
  }
  for (double* value : {&work.nodes, &work.edges, &work.row_bytes, &work.slab_bytes, &work.learned_bytes,
                        &work.operations, &work.aggregated_bytes})
    *value /= std::max(1U, count);
  return work;
}

EpochEstimate estimate_epoch(const Dataset& dataset, const EpochCase& epoch, const Ceilings& ceilings) {
  const BatchWork work = work_of_batches(dataset, epoch);
  const std::int64_t seeds_of_step = std::int64_t{epoch.batch_size} * epoch.num_ranks;
  EpochEstimate found;
  found.steps = (static_cast<std::int64_t>(dataset.train.size()) + seeds_of_step - 1) / seeds_of_step;
  const auto steps = static_cast<double>(found.steps);
  found.sampling = steps * work.edges / ceilings.random_reads;
  found.gathering = steps * work.row_bytes / ceilings.random_row_bytes;
  if (ceilings.all_reduced_bytes > 0) {
    found.exchange = steps * gradient_bytes(layers_of(dataset, epoch), work) / ceilings.all_reduced_bytes;
  }
  const double prepared = found.sampling + found.gathering;
  if (ceilings.pinned_bytes > 0) {
    found.transfer = steps * work.slab_bytes / ceilings.pinned_bytes;
    found.total = std::max(prepared, found.transfer) + found.exchange;
  } else {
    found.computing = steps * (work.operations / ceilings.operations + work.aggregated_bytes / ceilings.copied_bytes);
    found.total = prepared + found.computing + found.exchange;
  }
  return found;
}

}  // namespace salient::doctor
