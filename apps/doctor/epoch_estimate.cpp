// apps/doctor/epoch_estimate.cpp - see epoch_estimate.h.
#include "apps/doctor/epoch_estimate.h"

#include <algorithm>

#include "sampler/mfg.h"
#include "sampler/neighbor_sampler.h"

namespace salient::doctor {
namespace {

constexpr std::uint32_t kProbes = 3;

/// Values of a node before layer `layer`, the outermost first; of sparse features those that a row of the mean has.
double width_before(const Dataset& dataset, const EpochCase& epoch, std::size_t layer) {
  if (layer > 0) return epoch.hidden;
  if (!dataset.has_sparse_features()) return static_cast<double>(dataset.feature_dim);
  return static_cast<double>(dataset.sparse_features.num_values()) / static_cast<double>(dataset.num_nodes());
}
double width_after(const Dataset& dataset, const EpochCase& epoch, std::size_t layer) {
  return layer + 1 == epoch.fanouts.size() ? static_cast<double>(dataset.num_classes) : epoch.hidden;
}

/// Of a layer: two matrices, of the node itself and of the mean of its neighbours.
double num_weights(const Dataset& dataset, const EpochCase& epoch, std::size_t layer) {
  const double rows = layer == 0 ? static_cast<double>(dataset.feature_dim) : epoch.hidden;
  return 2 * rows * width_after(dataset, epoch, layer);
}
/// Weights that one node is multiplied by.
double num_products(const Dataset& dataset, const EpochCase& epoch, std::size_t layer) {
  return 2 * width_before(dataset, epoch, layer) * width_after(dataset, epoch, layer);
}

void add_batch(BatchWork& work, const Dataset& dataset, const EpochCase& epoch, const MfgShape& shape) {
  const auto nodes = static_cast<double>(shape.num_nodes);
  double edges = 0;
  for (std::size_t layer = 0; layer < shape.hops.size(); ++layer) {
    const MfgShape::Hop& hop = shape.hops[layer];
    const int passes = layer == 0 ? 2 : 3;  // forward, gradient of the weights, and of the input where that has one
    edges += hop.num_edges;
    work.operations += 2.0 * passes * hop.num_dst * num_products(dataset, epoch, layer);
    work.aggregated_bytes += (passes - 1) * 4.0 * hop.num_edges * width_before(dataset, epoch, layer);
  }
  const double bytes_of_row = static_cast<double>(dataset.feature_bytes()) / static_cast<double>(dataset.num_nodes());
  work.nodes += nodes;
  work.edges += edges;
  work.row_bytes += nodes * bytes_of_row;
  work.slab_bytes += nodes * (bytes_of_row + sizeof(NodeId)) + edges * sizeof(LocalId);
}

}  // namespace

BatchWork work_of_batches(const Dataset& dataset, const EpochCase& epoch) {
  NeighborSampler sampler(dataset.graph, epoch.fanouts);
  Mfg mfg;
  BatchWork work;
  const auto size = static_cast<std::size_t>(epoch.batch_size);
  std::uint32_t count = 0;
  for (; count < kProbes && count * size < dataset.train.size(); ++count) {
    const auto seeds = dataset.train.subspan(count * size, std::min(size, dataset.train.size() - count * size));
    sampler.sample(seeds, {.seed = 1, .epoch = 1, .batch = count}, mfg);
    add_batch(work, dataset, epoch, shape_of(mfg));
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
    double gradients = 0;
    for (std::size_t layer = 0; layer < epoch.fanouts.size(); ++layer)
      gradients += sizeof(float) * num_weights(dataset, epoch, layer);
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
