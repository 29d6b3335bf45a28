// prepare/importers/typed_nodes.h - the nodes of one type of a typed graph: how many, their features, their ids.
#pragma once

#include <cstdint>

#include "prepare/importers/node_index.h"
#include "prepare/importers/node_table.h"
#include "prepare/importers/raw_graph.h"
#include "prepare/importers/typed_options.h"
#include "store/table_coding.h"

namespace salient {

struct TypedNodes {
  std::uint64_t count = 0;
  RawFeatures features{};  ///< in the order of the nodes; dim 0 = none
  TableCoding coding{};    ///< of features from a table in text, else without columns
  NodeIndex index{};
};

/// How the options read a table of nodes.
NodeTableOptions table_options(const TypedOptions& options);

/// @throws as import_typed()
TypedNodes read_nodes(const NodeSource& source, const TypedOptions& options);

}  // namespace salient
