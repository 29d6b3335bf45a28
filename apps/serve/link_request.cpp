// apps/serve/link_request.cpp - see link_request.h.
#include "apps/serve/link_request.h"

#include "apps/serve/json_echo.h"
#include "apps/serve/request_json.h"

namespace salient::serve {
namespace {

using nlohmann::json;

NodesBy nodes_by(const json& root) {
  const auto by = root.find("nodes_by");
  if (by == root.end()) return NodesBy::kId;
  const auto found = by->is_string() ? value_named<NodesBy>(by->get_ref<const std::string&>()) : std::nullopt;
  if (!found) refuse_request(R"("nodes_by" must be "id" or "row")");
  return *found;
}

std::uint16_t relation_of(const json& said, const LinkRules& rules, const std::string& where) {
  if (!said.is_string()) refuse_request(where + "relation " + echo(said) + ": a relation is text");
  const std::optional<std::uint16_t> found = rules.relation_named(said.get_ref<const std::string&>());
  if (!found) refuse_request(where + "relation " + echo(said) + ": there is no such relation");
  return *found;
}

const json& some(const json& root, const char* name, const LinkRules& rules) {
  const json& list = list_of(root, name, "");
  if (list.empty()) refuse_request("\"" + std::string(name) + "\" must have at least one");
  if (list.size() > rules.max_nodes)
    refuse_request(std::to_string(list.size()) + " " + name + "; at most " + std::to_string(rules.max_nodes) +
                   " a request");
  return list;
}

}  // namespace

ScoreRequest parse_score(std::string_view body, const LinkRules& rules) {
  const json root = json_of(body);
  if (!root.is_object()) refuse_request("the body must be an object with \"links\"");
  check_fields(root, "", {"links", "nodes_by"});
  const NodesBy by = nodes_by(root);
  const bool has_relations = rules.relation_named != nullptr;
  const std::size_t size = has_relations ? 3 : 2;
  ScoreRequest request;
  const json& links = some(root, "links", rules);
  for (std::size_t i = 0; i < links.size(); ++i) {
    const std::string where = "links[" + std::to_string(i) + "]: ";
    if (!links[i].is_array() || links[i].size() != size)
      refuse_request(where + "a link is [source, " + (has_relations ? "relation, " : "") + "destination]");
    request.links.push_back({.source = known_node(links[i][0], rules.lookup, by, where),
                             .destination = known_node(links[i][size - 1], rules.lookup, by, where),
                             .relation = has_relations ? relation_of(links[i][1], rules, where) : std::uint16_t{0}});
  }
  return request;
}

RecommendRequest parse_recommend(std::string_view body, const LinkRules& rules) {
  const json root = json_of(body);
  if (!root.is_object()) refuse_request("the body must be an object with \"nodes\"");
  check_fields(root, "", {"nodes", "nodes_by", "relation", "side", "k"});
  const NodesBy by = nodes_by(root);
  RecommendRequest request;
  const json& nodes = some(root, "nodes", rules);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    request.nodes.push_back(known_node(nodes[i], rules.lookup, by, "nodes[" + std::to_string(i) + "]: "));
  const auto relation = root.find("relation");
  if ((relation != root.end()) != (rules.relation_named != nullptr))
    refuse_request(rules.relation_named ? "\"relation\" is needed, of the links that are asked for"
                                        : "\"relation\": the links of this graph have none");
  if (relation != root.end()) request.relation = relation_of(*relation, rules, "");
  if (const auto side = root.find("side"); side != root.end()) {
    if (*side != "tail" && *side != "head") refuse_request(R"("side" must be "tail" or "head")");
    request.asks_heads = *side == "head";
  }
  if (const auto k = root.find("k"); k != root.end()) {
    if (!k->is_number_unsigned() || *k == 0 || *k > rules.max_best)
      refuse_request(R"("k" must be 1 to )" + std::to_string(rules.max_best));
    request.k = k->get<std::size_t>();
  }
  return request;
}

}  // namespace salient::serve
