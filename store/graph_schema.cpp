// store/graph_schema.cpp - see graph_schema.h.
#include "store/graph_schema.h"

#include <algorithm>
#include <limits>
#include <set>

namespace salient {
namespace {

constexpr std::uint64_t kMaxIds = std::numeric_limits<NodeId>::max() - 1;  // the largest is never an id
constexpr std::uint64_t kMaxEntries = std::numeric_limits<std::int64_t>::max();

constexpr char kNameRule[] = ": 1 to 100 characters without blanks, ':', '=', ',' and '/'";
constexpr char kRelationNameRule[] = ": 1 to 1000 characters, of which none is a control character";

std::string broken_by_types(const GraphSchema& schema) {
  if (schema.node_types.size() > kMaxNodeTypes)
    return std::to_string(schema.node_types.size()) + " node types, at most " + std::to_string(kMaxNodeTypes) +
           " are possible";
  std::set<std::string_view> names;
  std::uint64_t num_nodes = 0;
  for (const NodeType& type : schema.node_types) {
    if (!is_schema_name(type.name)) return "'" + type.name + "' is no name of a node type" + kNameRule;
    if (!names.insert(type.name).second) return "two node types are called '" + type.name + "'";
    if (type.count > kMaxIds - num_nodes)
      return "the node types have more than " + std::to_string(kMaxIds) + " nodes together";
    num_nodes += type.count;
  }
  return num_nodes == 0 ? "no node type has a node" : "";
}

std::string broken_by_relation(const GraphSchema& schema, const Relation& relation) {
  const int num_types = static_cast<int>(schema.node_types.size());
  for (const int end : {relation.src, relation.dst})
    if (end < 0 || end >= num_types) return "relation '" + relation.name + "' has an end that is no node type";
  const std::string text = text_of(schema, relation);
  if (!is_relation_name(relation.name)) return "'" + relation.name + "' is no name of a relation" + kRelationNameRule;
  if (!relation.reverse_of) return "";
  const auto of = static_cast<std::size_t>(*relation.reverse_of);
  if (*relation.reverse_of < 0 || of >= schema.relations.size())
    return "relation '" + text + "' is the reverse of one that is not there";
  const Relation& forward = schema.relations[of];
  if (forward.src != relation.dst || forward.dst != relation.src || forward.num_entries != relation.num_entries)
    return "relation '" + text + "' is no reverse of '" + text_of(schema, forward) + "'";
  return "";
}

std::string broken_by_relations(const GraphSchema& schema) {
  if (schema.relations.size() > kMaxRelations)
    return std::to_string(schema.relations.size()) + " relations, at most " + std::to_string(kMaxRelations) +
           " are possible";
  for (const Relation& relation : schema.relations)
    if (std::string rule = broken_by_relation(schema, relation); !rule.empty()) return rule;
  std::set<std::string> texts;
  std::vector<std::uint32_t> num_slots(schema.node_types.size());
  std::uint64_t num_entries = 0;
  for (const Relation& relation : schema.relations) {
    if (!texts.insert(text_of(schema, relation)).second)
      return "relation '" + text_of(schema, relation) + "' is there twice";
    if (relation.slot != num_slots[static_cast<std::size_t>(relation.dst)]++)
      return "relation '" + text_of(schema, relation) + "' has slot " + std::to_string(relation.slot) +
             ", slots count the relations into a type";
    if (relation.num_entries > kMaxEntries - num_entries) return "the relations have 2^63 entries or more";
    num_entries += relation.num_entries;
  }
  for (std::size_t t = 0; t < num_slots.size(); ++t)
    if (num_slots[t] > kMaxSlots)
      return std::to_string(num_slots[t]) + " relations lead to node type '" + schema.node_types[t].name +
             "', at most " + std::to_string(kMaxSlots) + " are possible";
  return "";
}

}  // namespace

bool is_schema_name(std::string_view name) {
  constexpr std::string_view kRefused = ":=,/ ";
  return !name.empty() && name.size() <= 100 && std::ranges::none_of(name, [&](unsigned char c) {
    return c < ' ' || c == 0x7F || kRefused.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

bool is_relation_name(std::string_view name) {
  return !name.empty() && name.size() <= 1000 &&
         std::ranges::none_of(name, [](unsigned char c) { return c < ' ' || c == 0x7F; });
}

std::optional<int> GraphSchema::type_named(std::string_view name) const {
  const auto found = std::ranges::find(node_types, name, &NodeType::name);
  if (found == node_types.end()) return std::nullopt;
  return static_cast<int>(found - node_types.begin());
}

std::string text_of(const GraphSchema& schema, const Relation& relation) {
  const auto name_of_type = [&](int type) { return schema.node_types[static_cast<std::size_t>(type)].name; };
  return name_of_type(relation.src) + ":" + relation.name + ":" + name_of_type(relation.dst);
}

std::string type_names(const GraphSchema& schema) {
  std::string text;
  for (const NodeType& type : schema.node_types) text.append(text.empty() ? "" : ", ").append(type.name);
  return text;
}

void number_slots(GraphSchema& schema) {
  std::vector<std::uint32_t> num_slots(schema.node_types.size());
  for (Relation& relation : schema.relations) relation.slot = num_slots[static_cast<std::size_t>(relation.dst)]++;
}

SlotTable slot_table_of(const GraphSchema& schema) {
  std::vector<std::vector<std::uint16_t>> relations(schema.node_types.size());
  for (std::size_t r = 0; r < schema.relations.size(); ++r)
    relations[static_cast<std::size_t>(schema.relations[r].dst)].push_back(static_cast<std::uint16_t>(r));
  SlotTable table;
  for (std::size_t t = 0; t < relations.size(); ++t) table.append(schema.node_types[t].count, relations[t]);
  return table;
}

std::string broken_rule(const GraphSchema& schema) {
  if (std::string rule = broken_by_types(schema); !rule.empty()) return rule;
  if (std::string rule = broken_by_relations(schema); !rule.empty()) return rule;
  if (schema.target_type < 0 || schema.target_type >= static_cast<int>(schema.node_types.size()))
    return "the target type is none of the node types";
  if (slot_table_of(schema).num_rows() > kMaxIds)
    return std::to_string(slot_table_of(schema).num_rows()) + " slots of nodes, at most " + std::to_string(kMaxIds) +
           " are possible";
  return "";
}

}  // namespace salient
