// apps/serve/id_index.h - the node that the source of a data set calls so: the way back of store/node_ids.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "store/node_ids.h"

namespace salient::serve {

/// Cost: 4 bytes a node, and a sort at the start; a search compares log2(V) ids.
class IdIndex {
 public:
  IdIndex() = default;  ///< of a data set without ids

  /// @param num_nodes  of the data set
  IdIndex(NodeIds ids, std::size_t num_nodes);

  const NodeIds& ids() const { return ids_; }

  /// @param id  text, or a number as text   Threads: any
  std::optional<NodeId> find(std::string_view id) const;

 private:
  NodeIds ids_{};
  std::vector<NodeId> by_id_{};  // nodes in the order of their ids as text
};

}  // namespace salient::serve
