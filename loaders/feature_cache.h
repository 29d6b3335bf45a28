// loaders/feature_cache.h - the most used feature rows, in GPU memory beside the whole matrix in host memory.
#pragma once

#include <cstddef>

#include "loaders/device_features.h"
#include "loaders/node_set.h"
#include "store/dataset.h"

namespace salient {

/// Rows of the most connected nodes. A batch takes these from GPU memory; workers gather the others, and only those
/// cross the bus.
class FeatureCache {
 public:
  /// Copies the rows to the current device. Blocks until done; shows progress.
  ///
  /// @throws as DeviceFeatures.
  FeatureCache(const Dataset& dataset, std::size_t num_rows)
      : FeatureCache(dataset, most_connected_nodes(dataset.graph, num_rows)) {}

  const NodeSet& nodes() const { return nodes_; }
  RowTable table() const { return rows_.table(); }  ///< [nodes().size()] rows, by NodeSet::index_of(); device memory

 private:
  FeatureCache(const Dataset& dataset, const std::vector<NodeId>& nodes)
      : nodes_(dataset.num_nodes(), nodes), rows_(dataset.features, nodes) {}

  NodeSet nodes_;
  DeviceFeatures rows_;
};

}  // namespace salient
