// engine/device/batch_need.cpp - see batch_need.h.
#include "engine/device/batch_need.h"

#include <algorithm>
#include <memory>

#include "core/growth.h"
#include "loaders/batch_maker.h"
#include "loaders/device_graph.h"
#include "loaders/typed_batch.h"

namespace salient {
namespace {

constexpr int kProbes = 3;

void take_larger(std::int64_t& bytes, std::int64_t other) { bytes = std::max(bytes, other); }

/// Sparse rows come from the host; of typed graphs the dense ones of each type may be elsewhere.
bool may_be_in(const Dataset& dataset, Residency features) {
  if (features == Residency::kHost) return true;
  return dataset.types.is_typed() ? !has_one_table(dataset) : !dataset.has_sparse_features();
}

void add_batch(BatchNeed& need, const MfgShape& mfg, std::size_t num_seeds, const Dataset& dataset,
               const BatchProbe& probe) {
  for (const auto& [features, name] : names_of(Residency{})) {
    if (!may_be_in(dataset, features)) continue;
    const BatchLayout layout = lay_out_batch(mfg, static_cast<LocalId>(num_seeds), dataset, features,
                                             {.degrees = probe.degrees, .entries = probe.entries});
    BatchNeed::Slab& slab = need.slab_of[static_cast<std::size_t>(features)];
    take_larger(slab.host_bytes, static_cast<std::int64_t>(with_growth(layout.prepared_bytes)));
    take_larger(slab.device_bytes, static_cast<std::int64_t>(with_growth(layout.bytes)));
  }
  std::int64_t num_edges = 0;
  for (std::size_t h = 0; h < mfg.hops.size(); ++h) {
    const MfgShape::Hop& hop = mfg.hops[h];
    const LocalId num_slot_rows = mfg.typed_hops.empty() ? 0 : mfg.typed_hops[h].num_rows;
    num_edges += hop.num_edges;
    take_larger(need.device_sampler_bytes,
                device_sampler_bytes(hop.num_dst, hop.num_edges, num_slot_rows, need.sees_times));
  }
  take_larger(need.host_sampler_bytes, host_sampler_bytes(mfg.num_nodes, num_edges));
}

/// Of sparse rows that are grouped by column for a gradient: two numbers a value, and a copy that dropout makes.
std::int64_t bytes_by_column(const Dataset& dataset, const MfgShape& mfg) {
  std::uint64_t values = 0;
  if (!dataset.types.is_typed())
    values = dataset.sparse_features.longest.num_values(static_cast<std::uint64_t>(mfg.num_nodes));
  for (std::size_t t = 0; t < dataset.type_features.size(); ++t)
    values += dataset.type_features[t].sparse.longest.num_values(static_cast<std::uint64_t>(mfg.num_nodes_of_type[t]));
  return static_cast<std::int64_t>(values * 3 * sizeof(float));
}

}  // namespace

BatchNeed probe_batches(const Dataset& dataset, const BatchProbe& probe, const ComputeBytes& compute_bytes) {
  const std::unique_ptr<BatchSampler> sampler = make_host_sampler(dataset, probe.rule, probe.time);
  BatchNeed need{.entries = probe.entries, .sees_times = probe.time.has_value()};
  for (std::uint32_t batch = 0; batch < kProbes && batch * probe.batch_size < probe.seeds.size(); ++batch) {
    const std::size_t first = batch * probe.batch_size;
    const auto seeds = probe.seeds.subspan(first, std::min(probe.batch_size, probe.seeds.size() - first));
    const MfgShape& shape = sampler->sample(seeds, {.seed = probe.seed, .epoch = 1, .batch = batch});
    add_batch(need, shape, seeds.size(), dataset, probe);
    take_larger(need.compute_bytes, compute_bytes(shape) + bytes_by_column(dataset, shape));
  }
  return need;
}

}  // namespace salient
