// apps/serve/link_request.h - the bodies of POST /score and /recommend: JSON text -> links, or nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/types.h"
#include "store/node_lookup.h"

namespace salient::serve {

/// What a body is checked against.
struct LinkRules {
  const NodeLookup& lookup;  ///< outlives the rules
  /// The number of a relation that may be asked for; null of a plain graph, whose links have none.
  std::function<std::optional<std::uint16_t>(std::string_view name)> relation_named{};
  std::size_t max_nodes = 1024;  ///< of a request, or links
  std::size_t max_best = 1000;   ///< of "k"
};

struct AskedLink {
  NodeId source = 0, destination = 0;
  std::uint16_t relation = 0;
};

struct ScoreRequest {
  std::vector<AskedLink> links{};
};

struct RecommendRequest {
  std::vector<NodeId> nodes{};  ///< in the order of the request, which may name a node twice
  std::uint16_t relation = 0;
  bool asks_heads = false;
  std::size_t k = 10;
};

/// {"links": [[17, 4], ...]}, source and destination, of a knowledge graph [["ann", "likes", "bob"], ...]; "nodes_by"
/// as of /predict.
/// @throws Error{kBadData} with one line that names the place and the rule, as the next
ScoreRequest parse_score(std::string_view body, const LinkRules& rules);

/// {"nodes": [17, 4]}, of a knowledge graph with "relation": "likes"; "side": "tail", the default, or "head", and
/// "k": 10, how many of each.
RecommendRequest parse_recommend(std::string_view body, const LinkRules& rules);

}  // namespace salient::serve
