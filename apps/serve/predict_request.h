// apps/serve/predict_request.h - the body of POST /predict: JSON text -> node ids, or new nodes.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/new_nodes.h"
#include "core/types.h"

namespace salient::serve {

/// What a body is checked against.
struct RequestRules {
  std::size_t num_nodes = 0;  ///< of the data set
  std::size_t feature_dim = 0;
  std::size_t max_nodes = 1024;  ///< that are predicted for one request
  /// The node that the source of the data set calls so; nullopt if there is none. Empty: nodes have numbers alone.
  std::function<std::optional<NodeId>(std::string_view id)> find_id{};
};

/// Either `nodes` or `new_nodes` has nodes.
struct PredictRequest {
  std::vector<NodeId> nodes{};  ///< in the order of the request, which may name a node twice
  NewNodes new_nodes{};
  bool probabilities = false;

  std::size_t num_nodes() const { return nodes.size() + new_nodes.num_nodes(); }
};

/// {"nodes": [17, "an id"]} or {"new_nodes": [{"features": [..], "neighbors": [17], "new_neighbors": [0]}]}, beside
/// which "probabilities": true may stand.
///
/// @throws Error{kBadData} with one line that names the place and the rule.
PredictRequest parse_request(std::string_view body, const RequestRules& rules);

}  // namespace salient::serve
