// apps/doctor/epoch_estimate.cpp - see epoch_estimate.h.
#include "apps/doctor/epoch_estimate.h"

#include <algorithm>

#include "models/describe/costs.h"
#include "sampler/mfg.h"
#include "sampler/neighbor_sampler.h"

namespace salient::doctor {
namespace {

constexpr std::uint32_t kProbes = 3;

LayerList layers_of(const Dataset& dataset, const EpochCase& epoch) {
  return describe({.in_dim = dataset.feature_dim,
                   .hidden_dim = epoch.hidden,
                   .num_classes = dataset.num_classes,
                   .num_layers = static_cast<int>(epoch.fanouts.size())});
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

}  // namespace

BatchWork work_of_batches(const Dataset& dataset, const EpochCase& epoch) {
  NeighborSampler sampler(dataset.graph, {epoch.fanouts});
  const LayerList layers = layers_of(dataset, epoch);
  Mfg mfg;
  BatchWork work;
  const auto size = static_cast<std::size_t>(epoch.batch_size);
  std::uint32_t count = 0;
  for (; count < kProbes && count * size < dataset.train.size(); ++count) {
    const auto seeds = dataset.train.subspan(count * size, std::min(size, dataset.train.size() - count * size));
    sampler.sample(seeds, {.seed = 1, .epoch = 1, .batch = count}, mfg);
    add_batch(work, dataset, layers, shape_of(mfg));
  }
  for (double* value :
       {&work.nodes, &work.edges, &work.row_bytes, &work.slab_bytes, &work.operations, &work.aggregated_bytes})
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
    const auto gradients = sizeof(float) * static_cast<double>(num_parameters(layers_of(dataset, epoch)));
    found.exchange = steps * gradients / ceilings.all_reduced_bytes;
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
