// apps/serve/model_json.cpp - see model_json.h.
#include "apps/serve/model_json.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "store/table_coding.h"

namespace salient::serve {
namespace {

using Json = nlohmann::ordered_json;

Json names_or_null(const std::vector<std::string>& names) { return names.empty() ? Json() : Json(names); }

const char* kind_of(const NodeIds& ids) { return ids.empty() ? "rows" : ids.numbers().empty() ? "text" : "numbers"; }

/// What a row of the table has: name, kind, and the words that are known.
Json columns_json(const TableCoding& coding) {
  Json columns = Json::array();
  for (const ColumnCoding& column : coding.columns) {
    columns.push_back({{"name", column.name}, {"kind", name_of(column.kind)}});
    if (!column.categories.empty()) columns.back()["words"] = column.categories;
  }
  return columns;
}

/// What new nodes may be, and what leads to them.
void add_types(Json& json, const GraphSchema& schema) {
  json["node_type"] = schema.target().name;
  for (const NodeType& type : schema.node_types)
    json["node_types"].push_back({{"name", type.name}, {"nodes", type.count}, {"features", type.features.dim}});
  for (const Relation& relation : schema.relations) json["relations"].push_back(text_of(schema, relation));
}

}  // namespace

std::string model_json(const ModelFacts& facts, const Dataset& dataset, const NodeIds& ids) {
  Json json;
  json["program"] = facts.program;
  json["run"] = facts.run;
  json["checkpoint"] = facts.checkpoint;
  json["model"] = facts.model;
  json["layers"] = facts.num_layers;
  json["embeddings"] = {{"widths", facts.layer_widths},
                        {"last_hidden", facts.last_hidden > 0 ? Json(facts.last_hidden) : Json()}};
  json["fanouts"] = facts.fanouts;
  json["precision"] = facts.precision;
  json["device"] = facts.device;
  const bool is_typed = dataset.types.is_typed();
  json["dataset"] = {{"name", dataset.name},
                     {"fingerprint", dataset.fingerprint},
                     {"nodes", is_typed ? dataset.types.target().count : dataset.num_nodes()},
                     {"edges", dataset.graph.indices.size()},
                     {"ids", kind_of(ids)}};
  if (is_typed) add_types(json["dataset"], dataset.types);
  const char* const outputs = words_of(dataset.task).outputs;
  json["task"] = dataset.task == Task::kRegression ? "regression" : outputs;
  json[dataset.task == Task::kRegression ? outputs : "classes"] = {{"count", dataset.num_classes},
                                                                   {"names", names_or_null(dataset.class_names)}};
  json["features"] = {{"count", dataset.feature_dim}, {"names", names_or_null(dataset.column_names)}};
  if (const std::optional<TableCoding> coding = coding_of(dataset.feature_origin, dataset.name))
    json["features"]["columns"] = columns_json(*coding);
  else if (!dataset.feature_origin.empty())
    json["features"]["made"] = dataset.feature_origin;
  json["max_nodes"] = facts.max_nodes;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";  // names and paths are bytes
}

}  // namespace salient::serve
