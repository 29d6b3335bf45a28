// apps/serve/new_node_json.h - the list "new_nodes" of a request: nodes with features and neighbours.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "apps/new_nodes.h"
#include "apps/serve/predict_request.h"

namespace salient::serve {

/// @param list  as parse_request() says    @param by  how nodes of the data set are named
/// @throws Error{kBadData} with one line that names the place and the rule
NewNodes new_nodes_of(const nlohmann::json& list, const RequestRules& rules, NodesBy by);

}  // namespace salient::serve
