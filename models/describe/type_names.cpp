// models/describe/type_names.cpp - see type_names.h.
#include "models/describe/type_names.h"

#include <algorithm>
#include <cstddef>

namespace salient {
namespace {

std::string without_dots(std::string name) {
  std::ranges::replace(name, '.', '#');
  return name;
}

std::string joined(const GraphTypes& types, const GraphTypes::Relation& relation, const char* between) {
  const auto name_of_type = [&](int type) { return types.node_types[static_cast<std::size_t>(type)].name; };
  return without_dots(name_of_type(relation.src) + between + relation.name + between + name_of_type(relation.dst));
}

}  // namespace

std::string module_name(const GraphTypes::NodeType& type) { return without_dots(type.name); }

std::string module_name(const GraphTypes& types, const GraphTypes::Relation& relation) {
  return "<" + joined(types, relation, "___") + ">";
}

std::string joined_name(const GraphTypes& types, const GraphTypes::Relation& relation) {
  return joined(types, relation, "__");
}

std::vector<int> num_relations_into(const GraphTypes& types) {
  std::vector<int> counts(types.node_types.size());
  for (const GraphTypes::Relation& relation : types.relations) ++counts[static_cast<std::size_t>(relation.dst)];
  return counts;
}

}  // namespace salient
