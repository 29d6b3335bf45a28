// models/describe/type_names.h - node types and relations as parts of parameters' names, as PyG has them.
#pragma once

#include <string>
#include <vector>

#include "models/describe/graph_types.h"

namespace salient {

/// A dot separates modules: PyG writes '#'.
std::string module_name(const GraphTypes::NodeType& type);

/// "<src___name___dst>": a key of PyG's ModuleDict.
std::string module_name(const GraphTypes& types, const GraphTypes::Relation& relation);

/// "src__name__dst": a key of HGTConv.
std::string joined_name(const GraphTypes& types, const GraphTypes::Relation& relation);

/// [T] relations that lead to each node type.
std::vector<int> num_relations_into(const GraphTypes& types);

}  // namespace salient
