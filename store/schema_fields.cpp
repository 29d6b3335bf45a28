// store/schema_fields.cpp - see schema_fields.h.
#include "store/schema_fields.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "core/fp8.h"

namespace salient {
namespace {

bool has(const JsonObject& object, const char* key) {
  const std::vector<std::string> keys = object.keys();
  return std::ranges::find(keys, key) != keys.end();
}

FeatureType feature_type_of(const JsonObject& object) {
  const std::string text = object.string("feature_dtype");
  const std::optional<FeatureType> type = value_named<FeatureType>(text);
  if (!type) object.refuse("feature_dtype", "is '" + text + "', allowed are f16, f32 and fp8");
  return *type;
}

float fp8_scale_of(const JsonObject& object, FeatureType type) {
  if (type != FeatureType::kFp8) return 0;
  const auto scale = static_cast<float>(object.number("fp8_scale"));
  if (!is_fp8_scale(scale)) object.refuse("fp8_scale", "is no power of two from 2^-15 to 2^7");
  return scale;
}

FeatureLayout feature_layout_of(const JsonObject& object) {
  if (!has(object, "feature_layout")) return FeatureLayout::kDense;
  const std::string text = object.string("feature_layout");
  if (text != name_of(FeatureLayout::kCsr))
    object.refuse("feature_layout", "is '" + text + "', this program knows '" + name_of(FeatureLayout::kCsr) +
                                        "', or no such field for dense rows");
  return FeatureLayout::kCsr;
}

int type_of(const GraphSchema& schema, const JsonObject& object, const char* key) {
  const std::string name = object.string(key);
  const std::optional<int> type = schema.type_named(name);
  if (!type) object.refuse(key, "is '" + name + "', node types are " + type_names(schema));
  return *type;
}

Relation read_relation(const GraphSchema& schema, const JsonObject& object) {
  Relation relation{.src = type_of(schema, object, "src"),
                    .dst = type_of(schema, object, "dst"),
                    .name = object.string("name"),
                    .slot = static_cast<std::uint32_t>(object.integer("slot", 0, kMaxSlots - 1)),
                    .num_entries = object.integer("entries", 0, kMaxOffset)};
  return relation;
}

/// The relation that "reverse_of" names. @param numbers  of relations by their texts
std::optional<int> reverse_of(const std::map<std::string, int>& numbers, const JsonObject& object) {
  if (!has(object, "reverse_of")) return std::nullopt;
  const std::string text = object.string("reverse_of");
  const auto found = numbers.find(text);
  if (found == numbers.end()) object.refuse("reverse_of", "is '" + text + "', which is no relation");
  return found->second;
}

}  // namespace

FeatureShape read_feature_shape(const JsonObject& object) {
  FeatureShape shape{.dim = static_cast<int>(object.integer("feature_dim", 0, kMaxInt)),
                     .type = feature_type_of(object)};
  shape.fp8_scale = fp8_scale_of(object, shape.type);
  shape.layout = feature_layout_of(object);
  if (shape.is_sparse() && shape.dim == 0)
    object.refuse("feature_dim", "is 0, though feature_layout is " + name_of(shape.layout));
  if (shape.is_sparse() && shape.type == FeatureType::kFp8)
    object.refuse("feature_dtype", "is fp8, which sparse rows never are");
  return shape;
}

GraphSchema read_schema(const JsonObject& root) {
  GraphSchema schema;
  for (const JsonObject& object : root.objects("node_types"))
    schema.node_types.push_back({.name = object.string("name"),
                                 .count = object.integer("count", 0, kMaxOffset),
                                 .features = read_feature_shape(object)});
  if (schema.node_types.empty()) root.refuse("node_types", "has no node type");
  const std::vector<JsonObject> relations = root.objects("relations");
  for (const JsonObject& object : relations) schema.relations.push_back(read_relation(schema, object));
  std::map<std::string, int> numbers;
  for (const Relation& relation : schema.relations)
    numbers.emplace(text_of(schema, relation), static_cast<int>(numbers.size()));
  for (std::size_t r = 0; r < relations.size(); ++r) schema.relations[r].reverse_of = reverse_of(numbers, relations[r]);
  schema.target_type = type_of(schema, root, "target_type");
  if (const std::string rule = broken_rule(schema); !rule.empty()) root.refuse("node_types", "is refused: " + rule);
  return schema;
}

void write_schema(const GraphSchema& schema, nlohmann::ordered_json& root) {
  if (!schema.is_typed()) return;
  const auto name_of_type = [&](int type) { return schema.node_types[static_cast<std::size_t>(type)].name; };
  root["node_types"] = nlohmann::ordered_json::array();
  for (const NodeType& type : schema.node_types) {
    nlohmann::ordered_json fields;
    fields["name"] = type.name;
    fields["count"] = type.count;
    fields["feature_dim"] = type.features.dim;
    fields["feature_dtype"] = name_of(type.features.type);
    if (type.features.type == FeatureType::kFp8) fields["fp8_scale"] = type.features.fp8_scale;
    if (type.features.is_sparse()) fields["feature_layout"] = name_of(type.features.layout);
    root["node_types"].push_back(fields);
  }
  root["relations"] = nlohmann::ordered_json::array();
  for (const Relation& relation : schema.relations) {
    nlohmann::ordered_json fields;
    fields["src"] = name_of_type(relation.src);
    fields["name"] = relation.name;
    fields["dst"] = name_of_type(relation.dst);
    fields["slot"] = relation.slot;
    fields["entries"] = relation.num_entries;
    if (relation.reverse_of)
      fields["reverse_of"] = text_of(schema, schema.relations[static_cast<std::size_t>(*relation.reverse_of)]);
    root["relations"].push_back(fields);
  }
  root["target_type"] = schema.target().name;
}

void to_json(nlohmann::json& json, const GraphSchema& schema) {
  nlohmann::ordered_json fields;
  write_schema(schema, fields);
  json = fields;
}

void from_json(const nlohmann::json& json, GraphSchema& schema) {
  schema = json.is_null() ? GraphSchema{} : read_schema(JsonObject::parse(json.dump(), "a graph's schema"));
}

}  // namespace salient
