// engine/device/batch_need.cpp - see batch_need.h.
#include "engine/device/batch_need.h"

#include <algorithm>

#include "core/growth.h"
#include "loaders/device_graph.h"
#include "sampler/neighbor_sampler.h"

namespace salient {
namespace {

constexpr int kProbes = 3;

void take_larger(std::int64_t& bytes, std::int64_t other) { bytes = std::max(bytes, other); }

/// Each layer: its input, aggregated, its result, and an operator's scratch as wide as that; in training a gradient of
/// each. At the end in training log-probabilities, their gradients and those of the logits, else logits and classes.
std::int64_t compute_bytes(const MfgShape& mfg, std::int64_t num_seeds, const Dataset& dataset,
                           const ComputeShape& compute) {
  const std::int64_t copies = compute.has_gradients ? 2 : 1;
  std::int64_t values = 0, width = dataset.feature_dim;
  for (const MfgShape::Hop& hop : mfg.hops) {
    values += copies * hop.num_dst * (width + std::int64_t{2} * compute.hidden_dim);
    width = compute.hidden_dim;
  }
  values += (copies + 1) * num_seeds * compute.num_classes;
  return values * static_cast<std::int64_t>(sizeof(float));
}

void add_batch(BatchNeed& need, const MfgShape& mfg, std::size_t num_seeds, const Dataset& dataset, Degrees degrees) {
  for (const Residency features : {Residency::kHost, Residency::kDevice, Residency::kCached}) {
    const BatchLayout layout = lay_out_batch(mfg, static_cast<LocalId>(num_seeds), dataset, features, degrees);
    BatchNeed::Slab& slab = need.slab_of[static_cast<std::size_t>(features)];
    take_larger(slab.host_bytes, static_cast<std::int64_t>(with_growth(layout.prepared_bytes)));
    take_larger(slab.device_bytes, static_cast<std::int64_t>(with_growth(layout.bytes)));
  }
  std::int64_t num_edges = 0;
  for (const MfgShape::Hop& hop : mfg.hops) {
    num_edges += hop.num_edges;
    take_larger(need.device_sampler_bytes, device_sampler_bytes(hop.num_dst, hop.num_edges));
  }
  take_larger(need.host_sampler_bytes, host_sampler_bytes(mfg.num_nodes, num_edges));
}

}  // namespace

BatchNeed probe_batches(const Dataset& dataset, const BatchProbe& probe, const ComputeShape& compute) {
  NeighborSampler sampler(dataset.graph, probe.fanouts, probe.replacement);
  Mfg mfg;
  BatchNeed need;
  for (std::uint32_t batch = 0; batch < kProbes && batch * probe.batch_size < probe.seeds.size(); ++batch) {
    const std::size_t first = batch * probe.batch_size;
    const auto seeds = probe.seeds.subspan(first, std::min(probe.batch_size, probe.seeds.size() - first));
    sampler.sample(seeds, {.seed = probe.seed, .epoch = 1, .batch = batch}, mfg);
    const MfgShape shape = shape_of(mfg);
    add_batch(need, shape, seeds.size(), dataset, probe.degrees);
    take_larger(need.compute_bytes, compute_bytes(shape, static_cast<std::int64_t>(seeds.size()), dataset, compute));
  }
  return need;
}

}  // namespace salient
