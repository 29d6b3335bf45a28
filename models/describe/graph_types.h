// models/describe/graph_types.h - what a model needs to know of a typed graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace salient {

/// Node types and relations in the order of the data set, whose numbers batches have. Of a plain graph empty.
struct GraphTypes {
  struct NodeType {
    std::string name{};
    std::int64_t num_nodes = 0;  ///< of the whole graph: rows that are learned where the type has no features
    int feature_dim = 0;         ///< 0 = none
    bool operator==(const NodeType&) const = default;
  };
  struct Relation {
    int src = 0, dst = 0;  ///< node types
    std::string name{};
    bool operator==(const Relation&) const = default;
  };
  std::vector<NodeType> node_types{};
  std::vector<Relation> relations{};
  int target_type = 0;  ///< whose nodes are seeds

  bool is_typed() const { return !node_types.empty(); }
  bool operator==(const GraphTypes&) const = default;
};

}  // namespace salient
