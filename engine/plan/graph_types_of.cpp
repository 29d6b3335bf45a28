// engine/plan/graph_types_of.cpp - see graph_types_of.h.
#include "engine/plan/graph_types_of.h"

#include <string>

#include "core/error.h"
#include "models/describe/costs.h"

namespace salient {

GraphTypes graph_types_of(const GraphSchema& schema) {
  GraphTypes types{.target_type = schema.target_type};
  for (const NodeType& type : schema.node_types)
    types.node_types.push_back({type.name, static_cast<std::int64_t>(type.count), type.features.dim});
  for (const Relation& relation : schema.relations)
    types.relations.push_back({relation.src, relation.dst, relation.name});
  return types;
}

ModelOptions fitted_to(ModelOptions model, const Dataset& dataset) {
  model.in_dim = dataset.feature_dim;
  model.num_classes = dataset.num_classes;
  model.types = graph_types_of(dataset.types);
  const bool reads = can_read_edge_features(model.kind) && model.edge_features == EdgeFeatures::kAuto;
  model.edge_dim = (reads ? dataset.edge_feature_dim : 0) + model.time_encoding;
  return model;
}

EntryParts entry_parts_for(const ModelOptions& model, const Dataset& dataset) {
  return {.features = fitted_to(model, dataset).edge_dim > model.time_encoding,
          .weights = is_by_weight(model),
          .row_weights = is_by_weight(model) && reads_row_weights(model),
          .gaps = model.time_encoding > 0};
}

void require_model_of_graph(const ModelOptions& model, const Dataset& dataset) {
  const ModelKind kind = model.kind;
  const std::string obstacle = obstacle_in_types(kind, graph_types_of(dataset.types));
  if (!obstacle.empty()) fail(ErrorKind::kUsage, dataset.name + ": " + obstacle);
  if (kind == ModelKind::kGine && dataset.edge_feature_dim == 0 && model.time_encoding == 0)
    fail(ErrorKind::kUsage, dataset.name + ": gine reads the features of edges, and these have none; gin does not");
  if (is_by_weight(model) && !dataset.has_edge_weights)
    fail(ErrorKind::kUsage, dataset.name + ": neighbours are to count by the weights of edges, and these have none");
}

}  // namespace salient
