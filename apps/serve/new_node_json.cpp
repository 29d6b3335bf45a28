// apps/serve/new_node_json.cpp - see new_node_json.h.
#include "apps/serve/new_node_json.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "apps/serve/json_echo.h"
#include "apps/serve/raw_row.h"
#include "apps/serve/request_json.h"

namespace salient::serve {
namespace {

using nlohmann::json;

/// A list of numbers, `width` of them. @param has  "the data set has", in messages
void append_numbers(const json& node, std::size_t width, const std::string& has, const std::string& where,
                    std::vector<float>& features) {
  const json& values = list_of(node, "features", where);
  if (values.size() != width)
    refuse_request(where + std::to_string(values.size()) + " features; " + has + " " + std::to_string(width));
  for (const json& value : values) {
    const double number = value.is_number() ? value.get<double>() : NAN;
    if (!std::isfinite(static_cast<float>(number)))
      refuse_request(where + "feature " + echo(value) + " is no finite number");
    features.push_back(static_cast<float>(number));
  }
}

/// Ends a row: ascending, as rows of a data set are.
void end_row(NewNodes& nodes, const std::string& where) {
  const auto begin = static_cast<std::ptrdiff_t>(nodes.indptr.back());
  std::sort(nodes.indices.begin() + begin, nodes.indices.end());
  if (std::adjacent_find(nodes.indices.begin() + begin, nodes.indices.end()) != nodes.indices.end())
    refuse_request(where + "a neighbour is there twice");
  nodes.indptr.push_back(static_cast<std::int64_t>(nodes.indices.size()));
}

void check_object(const json& node, const std::string& where) {
  if (!node.is_object()) refuse_request(where + "must be an object with features and neighbors");
}

/// Of plain graphs.
void append_plain(const json& node, std::size_t num_new, const RequestRules& rules, NodesBy by,
                  const std::string& where, NewNodes& nodes) {
  check_object(node, where);
  check_fields(node, where, {"features", "neighbors", "new_neighbors"});
  if (const auto row = node.find("features"); row != node.end() && row->is_object()) {
    if (!rules.raw_rows)
      refuse_request(where + "features are numbers here: the data set was not made of a table with columns");
    append_raw_row(*row, *rules.raw_rows, where, nodes.features);
  } else {
    append_numbers(node, rules.feature_dim, "the data set has", where, nodes.features);
  }
  for (const json& value : list_of(node, "neighbors", where))
    nodes.indices.push_back(known_node(value, rules.lookup, by, where + "neighbors: "));
  for (const json& value : list_of(node, "new_neighbors", where))
    nodes.indices.push_back(
        static_cast<NodeId>(rules.num_nodes + number_below(value, num_new, where + "new_neighbors: ")));
  end_row(nodes, where);
}

/// One list of nodes of a typed graph.
class TypedList {
 public:
  TypedList(const json& list, const RequestRules& rules, NodesBy by)
      : list_(list), rules_(rules), typed_(*rules.typed), by_(by) {
    for (std::size_t i = 0; i < list.size(); ++i) {
      check_object(list[i], where(i));
      check_fields(list[i], where(i), {"type", "features", "neighbors", "new_neighbors"});
      nodes_.types.push_back(type_of(list[i], where(i)));
      if (int{nodes_.types.back()} == typed_.schema.target_type) nodes_.predicted.push_back(static_cast<NodeId>(i));
    }
    if (nodes_.predicted.empty())
      refuse_request("new_nodes: none is of type '" + typed_.schema.target().name + "', which the run predicts");
  }

  NewNodes take() {
    for (std::size_t i = 0; i < list_.size(); ++i) {
      append_features(i);
      check_relations(i, "neighbors");
      check_relations(i, "new_neighbors");
      const std::size_t type = nodes_.types[i];
      for (std::uint32_t k = 0; k < typed_.slots.num_slots[type]; ++k)
        append_row(i, typed_.schema.relations[typed_.slots.relation_of(type, k)]);
    }
    return std::move(nodes_);
  }

 private:
  static std::string where(std::size_t i) { return "new_nodes[" + std::to_string(i) + "]: "; }
  const NodeType& type_at(int type) const { return typed_.schema.node_types[static_cast<std::size_t>(type)]; }

  /// The target type where none is said.
  std::uint8_t type_of(const json& node, const std::string& place) const {
    const auto said = node.find("type");
    if (said == node.end()) return static_cast<std::uint8_t>(typed_.schema.target_type);
    const std::optional<int> type =
        said->is_string() ? typed_.schema.type_named(said->get_ref<const std::string&>()) : std::nullopt;
    if (!type) refuse_request(place + "no node type " + echo(*said) + "; there are " + type_names(typed_.schema));
    return static_cast<std::uint8_t>(*type);
  }

  void append_features(std::size_t i) {
    const json& node = list_[i];
    const int number = nodes_.types[i];
    const std::string type = "type '" + type_at(number).name + "'";
    const auto width = static_cast<std::size_t>(type_at(number).features.dim);
    const auto row = node.find("features");
    if (row == node.end() || !row->is_object())
      return append_numbers(node, width, type + " has", where(i), nodes_.features);
    if (number != typed_.schema.target_type || !rules_.raw_rows)
      refuse_request(where(i) + "features are numbers here: those of " + type +
                     " were not made of a table whose columns the data set keeps");
    append_raw_row(*row, *rules_.raw_rows, where(i), nodes_.features);
  }

  /// Every key is a relation to the node's type.
  void check_relations(std::size_t i, const char* field) const {
    const auto lists = list_[i].find(field);
    if (lists == list_[i].end()) return;
    const std::string place = where(i) + field;
    if (!lists->is_object())
      refuse_request(place + R"( must be an object with a list for each relation, {"SRC:NAME:DST": [..]})");
    for (const auto& item : lists->items()) check_relation(item.key(), nodes_.types[i], place + ": ");
  }

  void check_relation(const std::string& said, int type, const std::string& place) const {
    std::string into;
    for (const Relation& relation : typed_.schema.relations) {
      const std::string name = text_of(typed_.schema, relation);
      if (name == said && relation.dst == type) return;
      if (name == said)
        refuse_request(place + echo(json(said)) + " leads to type '" + type_at(relation.dst).name +
                       "', and the node is of type '" + type_at(type).name + "'" + reverse_of(relation));
      if (relation.dst == type && into.size() < 200) into += (into.empty() ? "" : ", ") + name;
    }
    refuse_request(place + "no relation " + echo(json(said)) + "; to type '" + type_at(type).name + "' " +
                   (into.empty() ? "leads none" : "lead " + into));
  }

  /// "; its reverse is author:rev_written_by:paper", or ""
  std::string reverse_of(const Relation& relation) const {
    for (const Relation& other : typed_.schema.relations) {
      const auto is_of = [&](const Relation& a, const Relation& b) {
        return a.reverse_of && &typed_.schema.relations[static_cast<std::size_t>(*a.reverse_of)] == &b;
      };
      if (is_of(other, relation) || is_of(relation, other)) return "; its reverse is " + text_of(typed_.schema, other);
    }
    return "";
  }

  /// The list of a relation; empty if there is none.
  const json& nodes_by(std::size_t i, const char* field, const std::string& relation) const {
    static const json kNone = json::object();
    const auto lists = list_[i].find(field);
    return list_of(lists == list_[i].end() ? kNone : *lists, relation.c_str(), where(i) + field + ": ");
  }

  void append_row(std::size_t i, const Relation& relation) {
    const std::string name = text_of(typed_.schema, relation);
    const auto src = static_cast<std::size_t>(relation.src);
    const auto place = [&](const char* field) { return where(i) + field + ": " + name + ": "; };
    for (const json& value : nodes_by(i, "neighbors", name))
      nodes_.indices.push_back(static_cast<NodeId>(typed_.slots.node_begin[src] +
                                                   known_node(value, typed_.lookups[src], by_, place("neighbors"))));
    for (const json& value : nodes_by(i, "new_neighbors", name)) {
      const std::uint64_t number = number_below(value, list_.size(), place("new_neighbors"));
      if (nodes_.types[number] != src)
        refuse_request(place("new_neighbors") + "new node " + std::to_string(number) + " is of type '" +
                       type_at(nodes_.types[number]).name + "'");
      nodes_.indices.push_back(static_cast<NodeId>(rules_.num_nodes + number));
    }
    end_row(nodes_, where(i) + name + ": ");
  }

  const json& list_;
  const RequestRules& rules_;
  const TypedRules& typed_;
  NodesBy by_;
  NewNodes nodes_{};
};

}  // namespace

NewNodes new_nodes_of(const json& list, const RequestRules& rules, NodesBy by) {
  if (rules.num_nodes + list.size() > std::uint64_t{1} << 32) refuse_request("new_nodes: more than 2^32 nodes in all");
  if (rules.typed != nullptr) return TypedList(list, rules, by).take();
  NewNodes nodes;
  for (std::size_t i = 0; i < list.size(); ++i)
    append_plain(list[i], list.size(), rules, by, "new_nodes[" + std::to_string(i) + "]: ", nodes);
  return nodes;
}

}  // namespace salient::serve
