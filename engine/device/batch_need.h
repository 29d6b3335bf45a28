// engine/device/batch_need.h - the memory that the batches of a loader take, from a few that are sampled for it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "core/types.h"
#include "loaders/batch.h"
#include "loaders/residency.h"
#include "models/compute_bytes.h"
#include "sampler/expected_visits.h"
#include "sampler/mfg.h"
#include "sampler/sampling_rule.h"
#include "sampler/time_rule.h"
#include "store/dataset.h"

namespace salient {

/// Of the largest batch; slabs with the room that they grow by.
struct BatchNeed {
  struct Slab {
    std::int64_t host_bytes = 0, device_bytes = 0;
  };
  std::array<Slab, names_of(Residency{}).size()> slab_of{};  ///< by Residency of the feature rows; none of kSharded
  std::int64_t host_sampler_bytes = 0, device_sampler_bytes = 0;  ///< of one sampler
  EntryParts entries{};                                           ///< of the probe
  bool sees_times = false;                                        ///< of each seed by its own time: BatchProbe::time
  std::int64_t compute_bytes = 0;  ///< layers' results, their gradients and the operators' scratch, logits and loss

  const Slab& slab(Residency features) const {
    return slab_of[static_cast<std::size_t>(is_on_gpus(features) ? Residency::kDevice : features)];
  }
};

/// How compute_bytes() counts the first layer.
inline InputKind input_of(const Dataset& dataset) {
  return dataset.has_sparse_features() ? InputKind::kSparse : InputKind::kDense;
}

/// What a model takes for a batch: its compute_bytes().
using ComputeBytes = std::function<std::int64_t(const MfgShape&)>;

/// Batches to sample: those that the loader will make first.
struct BatchProbe {
  SamplingRule rule{};
  std::optional<TimeRule> time{};  ///< as LoaderOptions::time
  std::span<const NodeId> seeds{};
  std::size_t batch_size = 0;
  Degrees degrees = Degrees::kOfNoNode;
  EntryParts entries{};
  std::uint32_t seed = 0;  ///< of the draws
};

/// What the whole loader will sample, as if seeds saw edges of all times: near enough for caches.
inline SamplingPlan sampling_plan(const BatchProbe& probe) {
  return {probe.rule, probe.seeds, probe.batch_size, probe.seed};
}

/// Samples three batches on the host, since their size depends on the graph; allocates nothing lasting.
BatchNeed probe_batches(const Dataset& dataset, const BatchProbe& probe, const ComputeBytes& compute_bytes);

}  // namespace salient
