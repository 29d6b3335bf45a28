// prepare/writing/write_typed_store.cpp - see write_typed_store.h.
#include "prepare/writing/write_typed_store.h"

#include <string>
#include <utility>

#include "core/arena_of.h"
#include "core/error.h"
#include "prepare/writing/feature_layout.h"
#include "prepare/writing/fp8_features.h"
#include "prepare/writing/repeated_reverses.h"
#include "prepare/writing/store_contents.h"
#include "prepare/writing/typed_rows.h"

namespace salient {
namespace {

/// Features as they are stored, and their shape in the schema.
void settle_features(TypedGraph& graph, const WriteStoreOptions& options) {
  for (std::size_t t = 0; t < graph.features.size(); ++t) {
    RawFeatures& features = graph.features[t];
    if (features.dim == 0) continue;
    require(features.num_rows() == graph.schema.node_types[t].count, "every node of a type has a feature row");
    say_losses(features.losses, features.file, features.column_names);
    const FeatureLayout layout = options.in_fp8 ? FeatureLayout::kDense : layout_for(features, options.feature_layout);
    features = in_layout(std::move(features), layout, graph.target.memory);
    if (options.in_fp8) features = in_fp8(std::move(features), graph.target.source_path);
    graph.schema.node_types[t].features = {features.dim, features.type, features.layout, features.fp8_scale};
  }
}

FeatureTable table_of(const RawFeatures& features, const FeatureShape& shape, std::uint64_t count) {
  if (shape.dim == 0) return {};
  if (shape.is_sparse())
    return {.sparse = {.begin = features.begin, .columns = features.columns, .values = features.rows.data()}};
  return {.rows = {features.rows.data(), static_cast<std::size_t>(count), shape.row_bytes(), shape.fp8_scale}};
}

/// Ids of the target type become ids of the one space.
void move_splits(RawGraph& target, NodeId first) {
  for (std::vector<NodeId>* part : {&target.train, &target.valid, &target.test})
    for (NodeId& id : *part) id += first;
}

}  // namespace

WriteReport write_typed_store(TypedGraph graph, const WriteStoreOptions& options) {
  if (const std::string rule = broken_rule(graph.schema); !rule.empty())
    fail(ErrorKind::kBadData, graph.target.source_path + ": " + rule);
  if (!graph.has_links) drop_repeated_reverses(graph);
  RawGraph& target = graph.target;
  const SlotTable slots = slot_table_of(graph.schema);
  if (target.task == Task::kMultiClass && target.labels.empty())
    target.labels.assign(static_cast<std::size_t>(graph.schema.target().count), -1);
  std::uint64_t edges_read = 0, num_entries = 0;
  for (const Relation& relation : graph.schema.relations) {
    const auto given = static_cast<std::size_t>(
        relation.reverse_of.value_or(static_cast<int>(&relation - graph.schema.relations.data())));
    num_entries += graph.edges[given].sources.size();
    if (!relation.reverse_of) edges_read += graph.edges[given].sources.size();
  }
  target.memory.check(num_entries * sizeof(NodeId) + slots.num_rows() * (sizeof(EdgeOffset) + sizeof(NodeId)),
                      target.source_path);
  const CsrArrays arrays =
      arena_of(options.num_threads).execute([&] { return build_slots(graph.schema, slots, std::move(graph.edges)); });
  settle_features(graph, options);
  move_splits(target, static_cast<NodeId>(slots.node_begin[static_cast<std::size_t>(graph.schema.target_type)]));
  Dataset dataset = dataset_of(target);
  dataset.types = graph.schema;
  dataset.set_feature_shape(graph.schema.target().features);
  dataset.column_names = graph.features[static_cast<std::size_t>(graph.schema.target_type)].column_names;
  dataset.feature_origin = std::move(target.feature_origin);
  dataset.graph = arrays.view();
  dataset.has_links = graph.has_links;
  for (std::size_t s = 0; s < graph.links.size(); ++s)
    dataset.links[s] = {graph.links[s].ends, graph.links[s].relations};
  for (std::size_t t = 0; t < graph.features.size(); ++t)
    dataset.type_features.push_back(
        table_of(graph.features[t], graph.schema.node_types[t].features, graph.schema.node_types[t].count));
  complete(dataset);
  StoreOrigin origin = origin_of(target);
  origin.edges_read = edges_read;
  origin.self_loops = arrays.self_loops;
  origin.duplicates = arrays.duplicates;
  origin.original_ids = graph.original_ids;
  origin.node_names = &graph.node_names;
  return write_store(dataset, origin, options);
}

}  // namespace salient
