// loaders/type_caches.h - some feature rows of each node type, in GPU memory beside all of them in host memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "loaders/device_features.h"
#include "loaders/node_set.h"
#include "store/dataset.h"

namespace salient {

/// What a row of each type takes where rows are copied: 0 of sparse rows, and of types without features.
std::vector<std::size_t> dense_row_bytes(const Dataset& dataset);

/// Nodes by type, as rows of their type's table. @param nodes  ascending   @return  [types] ascending
std::vector<std::vector<NodeId>> rows_by_type(const Dataset& dataset, std::span<const NodeId> nodes);

/// What FeatureCache is of a plain graph.
class TypeCaches {
 public:
  /// Copies the rows to the current device. Blocks until done; shows progress.
  ///
  /// @param nodes  of types with dense features, ascending; nodes_to_cache() chooses well
  /// @throws as DeviceFeatures.
  TypeCaches(const Dataset& dataset, std::span<const NodeId> nodes);

  std::span<const NodeSet> rows() const { return rows_; }       ///< [types] of each table, those that are there
  std::span<const RowTable> tables() const { return tables_; }  ///< [types] likewise, by NodeSet::index_of()

 private:
  std::vector<NodeSet> rows_;
  std::vector<DeviceFeatures> memory_;
  std::vector<RowTable> tables_;
};

}  // namespace salient
