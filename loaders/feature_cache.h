// loaders/feature_cache.h - some feature rows, in GPU memory beside the whole matrix in host memory.
#pragma once

#include <vector>

#include "loaders/device_features.h"
#include "loaders/node_set.h"
#include "store/dataset.h"

namespace salient {

/// A batch takes these rows from GPU memory; workers gather the others, and only those cross the bus.
class FeatureCache {
 public:
  /// Copies the rows to the current device. Blocks until done; shows progress.
  ///
  /// @param nodes  whose rows, ascending; nodes_to_cache() chooses well.
  /// @throws as DeviceFeatures.
  FeatureCache(const Dataset& dataset, const std::vector<NodeId>& nodes)
      : nodes_(dataset.num_nodes(), nodes), rows_(dataset.features, nodes) {}

  const NodeSet& nodes() const { return nodes_; }
  RowTable table() const { return rows_.table(); }  ///< [nodes().size()] rows, by NodeSet::index_of(); device memory

 private:
  NodeSet nodes_;
  DeviceFeatures rows_;
};

}  // namespace salient
