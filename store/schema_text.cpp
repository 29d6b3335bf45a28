// store/schema_text.cpp - see schema_text.h.
#include "store/schema_text.h"

#include <algorithm>

#include "core/number_text.h"
#include "core/printable.h"

namespace salient {
namespace {

std::string megabytes(std::uint64_t bytes) { return fixed(static_cast<double>(bytes) / 1e6, 1) + " MB"; }

std::string type_text(const Dataset& dataset, std::size_t t) {
  const NodeType& type = dataset.types.node_types[t];
  const bool is_target = t == static_cast<std::size_t>(dataset.types.target_type);
  std::string text = printable(type.name) + ": " + grouped(type.count) + " nodes, ";
  if (type.features.dim == 0) {
    text += "no features";
  } else {
    const auto& [rows, sparse] = dataset.type_features[t];
    const std::uint64_t bytes =
        type.features.is_sparse() ? sparse.num_bytes(size_of(type.features.type)) : type.count * rows.row_bytes;
    text += features_text(type.features, sparse.num_values(), type.count, bytes);
  }
  return text + (is_target ? "; target" : "");
}

/// Nodes of the destination type whose slot of this relation is empty.
std::uint64_t num_without(const Dataset& dataset, const Relation& relation) {
  const auto type = static_cast<std::size_t>(relation.dst);
  const SlotTable& slots = *dataset.slots;
  std::uint64_t num_empty = 0;
  for (std::uint64_t v = slots.node_begin[type]; v < slots.node_begin[type + 1]; ++v)
    num_empty += dataset.graph.degree(slots.row_of(type, static_cast<NodeId>(v), relation.slot)) == 0;
  return num_empty;
}

std::string relation_text(const Dataset& dataset, const Relation& relation) {
  const GraphSchema& schema = dataset.types;
  const NodeType& dst = schema.node_types[static_cast<std::size_t>(relation.dst)];
  const double mean = dst.count > 0 ? static_cast<double>(relation.num_entries) / static_cast<double>(dst.count) : 0;
  std::string text = printable(text_of(schema, relation)) + ": " + grouped(relation.num_entries) + " entries, mean " +
                     fixed(mean, 2) + " a node, " + grouped(num_without(dataset, relation)) + " without";
  if (relation.reverse_of)
    text += "; reverse of " + printable(schema.relations[static_cast<std::size_t>(*relation.reverse_of)].name);
  return text;
}

}  // namespace

std::string grouped(std::uint64_t value) {
  std::string text = std::to_string(value);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string summary_line(std::string label, const std::string& value) {
  label.resize(16, ' ');
  return label.append(value).append("\n");
}

std::string features_text(const FeatureShape& shape, std::uint64_t num_values, std::uint64_t num_rows,
                          std::uint64_t bytes) {
  std::string text = std::to_string(shape.dim) + " x " + name_of(shape.type) + ", " + megabytes(bytes);
  if (!shape.is_sparse()) return text;
  const auto values = static_cast<double>(num_values), rows = static_cast<double>(num_rows);
  return text + ", sparse: " + fixed(values / rows, 1) + " values a node, " +
         fixed(100 * values / (rows * shape.dim), 2) + " %; dense " + megabytes(num_rows * shape.row_bytes());
}

std::string schema_text(const Dataset& dataset) {
  const GraphSchema& schema = dataset.types;
  std::string text;
  for (std::size_t t = 0; t < schema.node_types.size(); ++t)
    text += summary_line(t == 0 ? "node types" : "", type_text(dataset, t));
  for (std::size_t r = 0; r < schema.relations.size(); ++r)
    text += summary_line(r == 0 ? "relations" : "", relation_text(dataset, schema.relations[r]));
  text += summary_line("in all", grouped(dataset.num_nodes()) + " nodes, " +
                                     grouped(static_cast<std::uint64_t>(dataset.num_edges())) + " entries in " +
                                     grouped(dataset.slots->num_rows()) + " slots");
  return text;
}

}  // namespace salient
