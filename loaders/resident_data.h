// loaders/resident_data.h - the parts of a data set that are in GPU memory. Needs no CUDA toolkit to include.
#pragma once

#include <memory>
#include <optional>

#include "loaders/device_features.h"
#include "loaders/device_graph.h"
#include "loaders/feature_cache.h"
#include "loaders/residency.h"
#include "loaders/shards.h"
#include "store/dataset.h"

namespace salient {

/// Owns the copies that a DataResidency asks for; made once, shared by all loaders of a run. Moves, never copies.
class ResidentData {
 public:
  /// Nothing in GPU memory.
  ResidentData() = default;

  /// Copies to the current device. Blocks until done; shows progress.
  ///
  /// @param dataset  outlives this.
  /// @param plan     of the batches that will be made, for a cache.
  /// @param shards   joined and written, of kSharded features alone.
  /// @throws as DeviceFeatures and DeviceGraph.
  ResidentData(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan = {},
               std::unique_ptr<Shards> shards = nullptr);

  /// For LoaderOptions::data; this outlives the loaders.
  ResidentView view() const;

 private:
  std::optional<DeviceFeatures> features_;
  std::unique_ptr<FeatureCache> cache_;
  std::unique_ptr<Shards> shards_;
  std::unique_ptr<DeviceGraph> graph_;
};

}  // namespace salient
