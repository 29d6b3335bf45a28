// models/resident/row_source.h - the rows that a layer reads: of the feature table below the tree, or of the layer
// before.
#pragma once

#include <cstdint>

#include "models/resident/operands.h"

namespace salient {

/// The first layer's: rows of the table for the nodes of the last level and the entries of the last hop.
struct TableRows {
  LastHop hop;
  FeatureRows features;
  RowsBehind behind = RowsBehind::kZeros;  ///< of what is made of them
};

/// A hidden layer's: rows of the grown level.
struct LevelRows {
  TreeGrowth growth;
  const NodeId* nodes;  ///< the tree's
  const void* z;        ///< [grown_capacity, width] device
  std::int64_t width;   ///< a multiple of 8
  ActivationType type;
  /// [grown_capacity, width / 8] device: rows are read as dropout(relu(z)), and bit c % 8 of byte c / 8 becomes
  /// (element is positive and kept). Null: rows are read as they are.
  std::uint8_t* kept;
  TreeDropout dropout;  ///< with `kept`
};

}  // namespace salient
