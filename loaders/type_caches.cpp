// loaders/type_caches.cpp - see type_caches.h.
#include "loaders/type_caches.h"

namespace salient {

std::vector<std::size_t> dense_row_bytes(const Dataset& dataset) {
  std::vector<std::size_t> bytes;
  for (const FeatureTable& table : dataset.type_features) bytes.push_back(table.rows.row_bytes);
  return bytes;
}

std::vector<std::vector<NodeId>> rows_by_type(const Dataset& dataset, std::span<const NodeId> nodes) {
  const std::vector<std::uint64_t>& begin = dataset.slots->node_begin;
  std::vector<std::vector<NodeId>> rows(dataset.slots->num_types());
  std::size_t type = 0;
  for (const NodeId node : nodes) {
    while (node >= begin[type + 1]) ++type;
    rows[type].push_back(static_cast<NodeId>(node - begin[type]));
  }
  return rows;
}

TypeCaches::TypeCaches(const Dataset& dataset, std::span<const NodeId> nodes) {
  const std::vector<std::vector<NodeId>> rows = rows_by_type(dataset, nodes);
  for (std::size_t t = 0; t < rows.size(); ++t) {
    RowTable table = dataset.type_features[t].rows;
    rows_.emplace_back(dataset.slots->num_nodes_of(t), rows[t]);
    table.data = nullptr;
    table.num_rows = rows[t].size();
    if (table.num_rows > 0) table = memory_.emplace_back(dataset.type_features[t].rows, rows[t]).table();
    tables_.push_back(table);
  }
}

}  // namespace salient
