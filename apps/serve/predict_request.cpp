// apps/serve/predict_request.cpp - see predict_request.h.
#include "apps/serve/predict_request.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include "apps/serve/json_echo.h"
#include "apps/serve/raw_row.h"
#include "core/error.h"
#include "core/files/json_text.h"

namespace salient::serve {
namespace {

using nlohmann::json;

constexpr int kDeepest = 8;  // levels of JSON; a request has four

[[noreturn]] void refuse(const std::string& what) { fail(ErrorKind::kBadData, what); }

void check_fields(const json& object, const std::string& where, std::initializer_list<std::string_view> known) {
  for (const auto& field : object.items())
    if (std::ranges::find(known, std::string_view(field.key())) == known.end())
      refuse(where + "unknown field " + echo(json(field.key())));
}

/// The array `name` of `object`; empty if there is none.
const json& list_of(const json& object, const char* name, const std::string& where) {
  static const json kNone = json::array();
  const auto found = object.find(name);
  if (found == object.end()) return kNone;
  if (!found->is_array()) refuse(where + "\"" + name + "\" must be a list");
  return *found;
}

std::uint64_t number_below(const json& value, std::uint64_t end, const std::string& where) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() >= end)
    refuse(where + echo(value) + (end == 0 ? ": there is none" : ": 0 to " + std::to_string(end - 1)));
  return value.get<std::uint64_t>();
}

/// Where nodes of the data set are named.
struct Naming {
  const RequestRules& rules;
  NodesBy by;
};

template <class Said>
NodeId known_node(const Said& said, const Naming& naming, const std::string& what) {
  const NodeLookup& lookup = naming.rules.lookup;
  const std::optional<NodeId> node = lookup.find(said, naming.by);
  if (node) return *node;
  const bool is_row = naming.by == NodesBy::kId && lookup.find(said, NodesBy::kRow).has_value();
  refuse(what + ": " + lookup.rule_of(said, naming.by) + (is_row ? R"(; "nodes_by": "row" takes row numbers)" : ""));
}

NodeId known_node(const json& value, const Naming& naming, const std::string& where) {
  const std::string what = where + "node " + echo(value);
  if (value.is_number_unsigned()) return known_node(value.get<std::uint64_t>(), naming, what);
  if (value.is_string()) return known_node(std::string_view(value.get_ref<const std::string&>()), naming, what);
  refuse(what + ": a node is text, or a number without sign and fraction");
}

void append_features(const json& node, const RequestRules& rules, const std::string& where, NewNodes& nodes) {
  if (const auto row = node.find("features"); row != node.end() && row->is_object()) {
    if (!rules.raw_rows) refuse(where + "features are numbers here: the data set was not made of a table with columns");
    return append_raw_row(*row, *rules.raw_rows, where, nodes.features);
  }
  const json& values = list_of(node, "features", where);
  if (values.size() != rules.feature_dim)
    refuse(where + std::to_string(values.size()) + " features; the data set has " + std::to_string(rules.feature_dim));
  for (const json& value : values) {
    const double number = value.is_number() ? value.get<double>() : NAN;
    if (!std::isfinite(static_cast<float>(number))) refuse(where + "feature " + echo(value) + " is no finite number");
    nodes.features.push_back(static_cast<float>(number));
  }
}

void append_row(const json& object, std::size_t num_new, const Naming& naming, const std::string& where,
                NewNodes& nodes) {
  const auto begin = static_cast<std::ptrdiff_t>(nodes.indices.size());
  for (const json& value : list_of(object, "neighbors", where))
    nodes.indices.push_back(known_node(value, naming, where + "neighbors: "));
  for (const json& value : list_of(object, "new_neighbors", where))
    nodes.indices.push_back(
        static_cast<NodeId>(naming.rules.num_nodes + number_below(value, num_new, where + "new_neighbors: ")));
  std::sort(nodes.indices.begin() + begin, nodes.indices.end());  // as rows of a data set are
  if (std::adjacent_find(nodes.indices.begin() + begin, nodes.indices.end()) != nodes.indices.end())
    refuse(where + "a neighbour is there twice");
  nodes.indptr.push_back(static_cast<std::int64_t>(nodes.indices.size()));
}

NewNodes new_nodes_of(const json& list, const Naming& naming) {
  const RequestRules& rules = naming.rules;
  if (rules.num_nodes + list.size() > std::uint64_t{1} << 32) refuse("new_nodes: more than 2^32 nodes in all");
  NewNodes nodes;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string where = "new_nodes[" + std::to_string(i) + "]: ";
    if (!list[i].is_object()) refuse(where + "must be an object with features and neighbors");
    check_fields(list[i], where, {"features", "neighbors", "new_neighbors"});
    append_features(list[i], rules, where, nodes);
    append_row(list[i], list.size(), naming, where, nodes);
  }
  return nodes;
}

/// The place of byte `at`: 1 and 1 of the first.
std::string place_of(std::string_view text, std::size_t at) {
  const std::string_view before = text.substr(0, at);
  return "line " + std::to_string(1 + std::ranges::count(before, '\n')) + ", column " +
         std::to_string(before.size() - (before.rfind('\n') + 1) + 1);  // npos + 1 is 0
}

json json_of(std::string_view body) {
  try {
    return read_json(body, kDeepest);
  } catch (const JsonFault& fault) {
    if (fault.is_json) refuse("the body has " + fault.what);
    refuse("the body is no JSON" + (fault.at ? " at " + place_of(body, *fault.at) : ""));
  }
}

int layer_of(const json& said, const RequestRules& rules) {
  if (said == false) return 0;
  if (said == true && rules.last_hidden == 0)
    refuse(R"("embeddings": no layer is hidden, the only one gives the logits; send 1 for those)");
  if (said == true) return rules.last_hidden;
  const auto layer = said.is_number_unsigned() ? said.get<std::uint64_t>() : 0;
  if (layer < 1 || layer > static_cast<std::uint64_t>(rules.num_layers))
    refuse(R"("embeddings" must be true, false or a layer, 1 to )" + std::to_string(rules.num_layers));
  return static_cast<int>(layer);
}

/// What stands beside the nodes.
void read_form(const json& root, const RequestRules& rules, PredictRequest& request) {
  if (const auto by = root.find("nodes_by"); by != root.end()) {
    const auto found = by->is_string() ? value_named<NodesBy>(by->get_ref<const std::string&>()) : std::nullopt;
    if (!found) refuse(R"("nodes_by" must be "id" or "row")");
    request.nodes_by = *found;
  }
  if (const auto layer = root.find("embeddings"); layer != root.end()) request.layer = layer_of(*layer, rules);
  for (const char* field : {"probabilities", "top_k"})
    if (rules.task == Task::kRegression && root.contains(field))
      refuse("\"" + std::string(field) + "\": the model predicts values, which have none");
  if (const auto form = root.find("probabilities"); form != root.end()) {
    const bool is_by_name = *form == "by_name";
    if (!is_by_name && !form->is_boolean()) refuse(R"("probabilities" must be true, false or "by_name")");
    if (is_by_name && !rules.has_names) refuse(R"("probabilities": the classes have no names of their own; send true)");
    request.probabilities = is_by_name          ? ProbabilityForm::kByName
                            : form->get<bool>() ? ProbabilityForm::kList
                                                : ProbabilityForm::kNone;
  }
  if (const auto count = root.find("top_k"); count != root.end()) {
    if (!count->is_number_unsigned() || *count == 0 || *count > rules.num_classes)
      refuse(R"("top_k" must be 1 to )" + std::to_string(rules.num_classes));
    request.top_k = count->get<std::size_t>();
  }
}

}  // namespace

PredictRequest parse_request(std::string_view body, const RequestRules& rules) {
  const json root = json_of(body);
  if (!root.is_object()) refuse("the body must be an object with \"nodes\" or \"new_nodes\"");
  check_fields(root, "", {"nodes", "new_nodes", "nodes_by", "probabilities", "top_k", "embeddings"});
  const json& known = list_of(root, "nodes", "");
  const json& added = list_of(root, "new_nodes", "");
  if (known.empty() == added.empty()) refuse("either \"nodes\" or \"new_nodes\" must have nodes");
  if (rules.has_types && !added.empty()) refuse("\"new_nodes\": the graph has node types, and takes none");
  if (known.size() + added.size() > rules.max_nodes)
    refuse(std::to_string(known.size() + added.size()) + " nodes; at most " + std::to_string(rules.max_nodes) +
           " a request");
  PredictRequest request;
  read_form(root, rules, request);
  const Naming naming{rules, request.nodes_by};
  for (std::size_t i = 0; i < known.size(); ++i)
    request.nodes.push_back(known_node(known[i], naming, "nodes[" + std::to_string(i) + "]: "));
  if (!added.empty()) request.new_nodes = new_nodes_of(added, naming);
  return request;
}

}  // namespace salient::serve
