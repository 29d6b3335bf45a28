// prepare/importers/typed_graph.h - a typed graph as read, before its rows are built, in memory.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/types.h"
#include "prepare/importers/edge_file.h"
#include "prepare/importers/memory_limit.h"
#include "prepare/importers/name_table.h"
#include "prepare/importers/raw_graph.h"
#include "store/graph_schema.h"

namespace salient {

/// Links of one split, as a store has them (store/link_table.h).
struct RawLinks {
  std::vector<NodeId> ends{};              ///< [n, 2] ids of the one space
  std::vector<std::uint16_t> relations{};  ///< [n]
};

/// Ids in it count from 0 in their own type, and are checked.
struct TypedGraph {
  GraphSchema schema{};  ///< counts, names, ends; what features are, and entries, are found when the store is written
  std::vector<RawFeatures> features{};  ///< [types]
  std::vector<NodePairs> edges{};       ///< [relations]; of one with reverse_of empty, it is that one's the other way
  RawGraph target{};       ///< name, source, labels, split, seed and limit: of the target type as if it were the graph
  bool has_links = false;  ///< to be predicted: of those for training the edges are made
  std::array<RawLinks, 3> links{};            ///< of training, validation and test
  std::vector<std::uint64_t> original_ids{};  ///< as of a store: [V] of all types, each node's own id, or empty
  NameTable node_names{};                     ///< likewise; where some type's ids are text
};

}  // namespace salient
