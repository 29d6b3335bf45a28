// apps/serve/predict_request.cpp - see predict_request.h.
#include "apps/serve/predict_request.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "apps/serve/json_echo.h"
#include "apps/serve/new_node_json.h"
#include "apps/serve/request_json.h"
#include "core/error.h"
#include "core/time_text.h"

namespace salient::serve {
namespace {

using nlohmann::json;

int layer_of(const json& said, const RequestRules& rules) {
  if (said == false) return 0;
  if (said == true && rules.last_hidden == 0)
    refuse_request(R"("embeddings": no layer is hidden, the only one gives the logits; send 1 for those)");
  if (said == true) return rules.last_hidden;
  const auto layer = said.is_number_unsigned() ? said.get<std::uint64_t>() : 0;
  if (layer < 1 || layer > static_cast<std::uint64_t>(rules.num_layers))
    refuse_request(R"("embeddings" must be true, false or a layer, 1 to )" + std::to_string(rules.num_layers));
  return static_cast<int>(layer);
}

std::int64_t time_of(const json& said, const RequestRules& rules) {
  if (!rules.draws_by_time) refuse_request(R"("time": the run's neighbours are of all times, whatever is asked for)");
  constexpr const char* kRule = R"("time" must be a whole number, or a date such as "2004-04-15T12:30:00")";
  std::int64_t time = 0;
  if (said.is_number_integer()) {
    if (said.is_number_unsigned() && said.get<std::uint64_t>() >> 63 != 0) refuse_request(kRule);
    return said.get<std::int64_t>();
  }
  if (!said.is_string() || parse_time(said.get_ref<const std::string&>(), time) == TimeForm::kNone)
    refuse_request(kRule);
  return time;
}

/// What stands beside the nodes.
void read_form(const json& root, const RequestRules& rules, PredictRequest& request) {
  if (const auto by = root.find("nodes_by"); by != root.end()) {
    const auto found = by->is_string() ? value_named<NodesBy>(by->get_ref<const std::string&>()) : std::nullopt;
    if (!found) refuse_request(R"("nodes_by" must be "id" or "row")");
    request.nodes_by = *found;
  }
  if (const auto time = root.find("time"); time != root.end()) request.time = time_of(*time, rules);
  if (const auto layer = root.find("embeddings"); layer != root.end()) request.layer = layer_of(*layer, rules);
  for (const char* field : {"probabilities", "top_k"})
    if (rules.task == Task::kRegression && root.contains(field))
      refuse_request("\"" + std::string(field) + "\": the model predicts values, which have none");
  if (const auto form = root.find("probabilities"); form != root.end()) {
    const bool is_by_name = *form == "by_name";
    if (!is_by_name && !form->is_boolean()) refuse_request(R"("probabilities" must be true, false or "by_name")");
    if (is_by_name && !rules.has_names)
      refuse_request(R"("probabilities": the classes have no names of their own; send true)");
    request.probabilities = is_by_name          ? ProbabilityForm::kByName
                            : form->get<bool>() ? ProbabilityForm::kList
                                                : ProbabilityForm::kNone;
  }
  if (const auto count = root.find("top_k"); count != root.end()) {
    if (!count->is_number_unsigned() || *count == 0 || *count > rules.num_classes)
      refuse_request(R"("top_k" must be 1 to )" + std::to_string(rules.num_classes));
    request.top_k = count->get<std::size_t>();
  }
}

}  // namespace

PredictRequest parse_request(std::string_view body, const RequestRules& rules) {
  const json root = json_of(body);
  if (!root.is_object()) refuse_request("the body must be an object with \"nodes\" or \"new_nodes\"");
  check_fields(root, "", {"nodes", "new_nodes", "nodes_by", "probabilities", "top_k", "embeddings", "time"});
  const json& known = list_of(root, "nodes", "");
  const json& added = list_of(root, "new_nodes", "");
  if (known.empty() == added.empty()) refuse_request("either \"nodes\" or \"new_nodes\" must have nodes");
  if (known.size() + added.size() > rules.max_nodes)
    refuse_request(std::to_string(known.size() + added.size()) + " nodes; at most " + std::to_string(rules.max_nodes) +
                   " a request");
  PredictRequest request;
  read_form(root, rules, request);
  for (std::size_t i = 0; i < known.size(); ++i)
    request.nodes.push_back(known_node(known[i], rules.lookup, request.nodes_by, "nodes[" + std::to_string(i) + "]: "));
  if (!added.empty()) request.new_nodes = new_nodes_of(added, rules, request.nodes_by);
  return request;
}

}  // namespace salient::serve
