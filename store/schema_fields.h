// store/schema_fields.h - a graph's schema, and the shape of features, as fields of dataset.json.
#pragma once

#include <cstdint>
#include <limits>

#include <nlohmann/json_fwd.hpp>

#include "core/files/json_reader.h"
#include "store/graph_schema.h"

namespace salient {

inline constexpr std::uint64_t kMaxInt = std::numeric_limits<int>::max();              ///< of a field that is an int
inline constexpr std::uint64_t kMaxOffset = std::numeric_limits<std::int64_t>::max();  ///< of a count of entries

/// feature_dim, feature_dtype, fp8_scale and feature_layout. @throws Error{kBadData} as JsonObject
FeatureShape read_feature_shape(const JsonObject& object);

/// node_types, relations and target_type. @throws Error{kBadData} as JsonObject, and for each broken_rule()
GraphSchema read_schema(const JsonObject& root);

/// The inverse, in a fixed order of keys; none for a plain graph.
void write_schema(const GraphSchema& schema, nlohmann::ordered_json& root);

/// As one value among others, for nlohmann's conversions; null for a plain graph.
void to_json(nlohmann::json& json, const GraphSchema& schema);
void from_json(const nlohmann::json& json, GraphSchema& schema);

}  // namespace salient
