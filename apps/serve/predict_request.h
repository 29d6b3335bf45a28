// apps/serve/predict_request.h - the body of POST /predict: JSON text -> node ids, or new nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "apps/new_nodes.h"
#include "core/slot_table.h"
#include "core/types.h"
#include "store/graph_schema.h"
#include "store/label_table.h"
#include "store/node_lookup.h"
#include "store/raw_rows.h"

namespace salient::serve {

/// What a body is checked against of a typed graph.
struct TypedRules {
  const GraphSchema& schema;
  const SlotTable& slots;
  std::vector<NodeLookup> lookups{};  ///< [T] of the nodes of each type
};

/// What a body is checked against.
struct RequestRules {
  const NodeLookup& lookup;   ///< of the data set's nodes, of a typed graph of the target type; outlives the rules
  std::size_t num_nodes = 0;  ///< of the data set, of all types
  std::size_t feature_dim = 0;
  Task task = Task::kMultiClass;
  std::size_t num_classes = 0;   ///< or labels, or targets
  std::size_t max_nodes = 1024;  ///< that are predicted for one request
  bool has_names = false;        ///< of classes, a different one each
  int num_layers = 0;
  bool draws_by_time = false;         ///< nodes are asked for at a time
  int last_hidden = 0;                ///< the layer that "embeddings": true means; 0 = there is none
  std::optional<RawRows> raw_rows{};  ///< none: features are not those of a table
  const TypedRules* typed = nullptr;  ///< null of a plain graph; outlives the rules
};

/// How a prediction has the probabilities of all classes or labels.
enum class ProbabilityForm : std::uint8_t {
  kNone,
  kList,    ///< in the order of their numbers
  kByName,  ///< an object; a class without a name has its number
};

/// Either `nodes` or `new_nodes` has nodes.
struct PredictRequest {
  std::vector<NodeId> nodes{};  ///< in the order of the request, which may name a node twice
  NewNodes new_nodes{};
  std::optional<std::int64_t> time{};  ///< when `nodes` are asked for; none: each at its own time
  NodesBy nodes_by = NodesBy::kId;
  ProbabilityForm probabilities = ProbabilityForm::kNone;
  std::size_t top_k = 0;  ///< classes with their probabilities, the most probable first
  int layer = 0;          ///< whose result is asked for, from 1; 0 = of none

  /// Of which there is a prediction.
  std::size_t num_nodes() const { return nodes.size() + new_nodes.num_predicted(); }
};

/// {"nodes": [17, "an id"]} or {"new_nodes": [{"features": [..], "neighbors": [17], "new_neighbors": [0]}]}, beside
/// which may stand "nodes_by": "id" | "row", of all nodes of the data set, "embeddings": true | LAYER,
/// "probabilities": true | "by_name" and "top_k": 3; values do not have the last two.
///
/// Of a run that draws by time: "time": 1081987200 | "2004-04-15", when the nodes are asked for; each at its own time
/// where it is not said.
///
/// Features of a data set that was made of a table may be a row of it: {"country": "DE", "age": null}.
///
/// Of a typed graph "nodes" are those of the target type. A new node has a "type", the target type where it says none,
/// as many features as that, and its neighbours by relation: {"neighbors": {"author:writes:paper": ["ann", 17]},
/// "new_neighbors": {"author:writes:paper": [1]}}, of relations to its type alone. Each type has ids of its own. New
/// nodes of the target type are predicted, and there is at least one; the others are there as neighbours.
///
/// 17 and "17" are the same: the id 17 where the data set has ids of its own, else, or by "row", row 17.
///
/// @throws Error{kBadData} with one line that names the place and the rule.
PredictRequest parse_request(std::string_view body, const RequestRules& rules);

}  // namespace salient::serve
