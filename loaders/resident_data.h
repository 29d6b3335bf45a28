// loaders/resident_data.h - the parts of a data set that are in GPU memory. Needs no CUDA toolkit to include.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "loaders/device_features.h"
#include "loaders/device_graph.h"
#include "loaders/feature_cache.h"
#include "loaders/near_copies.h"
#include "loaders/part_rows.h"
#include "loaders/residency.h"
#include "loaders/shards.h"
#include "loaders/type_caches.h"
#include "store/dataset.h"

namespace salient {

/// Which of the ranks that share a run this is.
struct RankOfRun {
  int rank = 0, num_ranks = 1;
};

/// Owns the copies that a DataResidency asks for; made once, shared by all loaders of a run. Moves, never copies.
class ResidentData {
 public:
  /// Nothing in GPU memory.
  ResidentData() = default;

  /// Copies to the current device; of kPartitioned the rows of this rank's part to host memory. Blocks until done;
  /// shows progress.
  ///
  /// @param dataset  outlives this.
  /// @param plan     of the batches that will be made, for a cache.
  /// @param shards   of kSharded features alone, joined and written by all ranks: one, with room for the copies, or of
  ///                 a typed graph [types], null where the rows of a type are not dense
  /// @param rank     for kPartitioned
  /// @throws as DeviceFeatures, DeviceGraph and open_parts(); Error{kUsage} for other than a part per rank
  ResidentData(const Dataset& dataset, const DataResidency& residency, const SamplingPlan& plan = {},
               std::vector<std::unique_ptr<Shards>> shards = {}, const RankOfRun& rank = {});

  /// Of kPartitioned, to bring the rows that are missing(); else null.
  PartRows* part() { return part_.get(); }

  /// For LoaderOptions::data; this outlives the loaders.
  ResidentView view() const;

 private:
  void put_types_on_device(const Dataset& dataset);

  std::optional<DeviceFeatures> features_;
  std::vector<DeviceFeatures> type_features_{};  ///< of a typed graph, those that are dense
  std::vector<RowTable> type_rows_{};            ///< [types] of a typed graph
  std::unique_ptr<FeatureCache> cache_;
  std::unique_ptr<TypeCaches> type_caches_;
  std::vector<std::unique_ptr<Shards>> shards_;
  std::unique_ptr<NearCopies> near_;  ///< null: all sharded rows are read where they are
  std::unique_ptr<PartRows> part_;
  std::unique_ptr<DeviceGraph> graph_;
  std::optional<DeviceFeatures> edge_features_;
};

}  // namespace salient
