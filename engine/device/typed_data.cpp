// engine/device/typed_data.cpp - see typed_data.h.
#include "engine/device/typed_data.h"

#include <string>

#include "core/error.h"
#include "core/number_text.h"
#include "loaders/shards.h"

namespace salient {

std::int64_t device_feature_bytes(const Dataset& dataset) {
  if (!dataset.types.is_typed()) return static_cast<std::int64_t>(dataset.feature_bytes());
  std::size_t bytes = 0;
  for (const FeatureTable& table : dataset.type_features) bytes += table.rows.num_rows * table.rows.row_bytes;
  return static_cast<std::int64_t>(bytes);
}

std::int64_t shard_feature_bytes(const Dataset& dataset, int num_shards) {
  if (!dataset.types.is_typed()) return static_cast<std::int64_t>(shard_bytes(dataset.feature_bytes(), num_shards));
  std::size_t bytes = 0;
  for (const FeatureTable& table : dataset.type_features)
    if (table.rows.row_bytes > 0) bytes += shard_bytes(table.rows.num_rows * table.rows.row_bytes, num_shards);
  return static_cast<std::int64_t>(bytes);
}

bool is_possible_of_types(const DataResidency& residency, const Dataset& dataset) {
  return !residency.graph_entries && (residency.features == Residency::kHost || device_feature_bytes(dataset) > 0);
}

void check_request_of_types(const ResidencyRequest& request, const Dataset& dataset, bool is_limited) {
  const Residency features = request.features.value_or(Residency::kHost);
  const std::string which = "those of " + dataset.name + ", whose graph has node types, ";
  if (features != Residency::kHost && device_feature_bytes(dataset) == 0)
    fail(ErrorKind::kUsage, name_of(features) + " feature rows were asked for; " + which + "are sparse, or learned");
  if (is_limited)
    fail(ErrorKind::kUsage, gigabytes(request.graph_bytes, 3) +
                                " of GPU memory for the graph were asked for; that of " + dataset.name +
                                ", which has node types, is there as a whole or not at all");
}

}  // namespace salient
