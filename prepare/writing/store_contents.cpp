// prepare/writing/store_contents.cpp - see store_contents.h.
#include "prepare/writing/store_contents.h"

#include <algorithm>
#include <cstdint>

namespace salient {

Dataset dataset_of(const RawGraph& graph) {
  Dataset dataset;
  dataset.facts() = {.name = graph.name,
                     .source_kind = graph.source_kind,
                     .task = graph.task,
                     .num_classes = graph.num_classes,
                     .feature_dim = graph.features.dim,
                     .feature_type = graph.features.type,
                     .fp8_scale = graph.features.fp8_scale,
                     .feature_layout = graph.features.layout,
                     .is_symmetric = graph.symmetrise,
                     .has_node_times = !graph.node_times.empty(),
                     .class_names = graph.class_names,
                     .column_names = graph.features.column_names};
  if (dataset.has_sparse_features())
    dataset.sparse_features = {
        .begin = graph.features.begin, .columns = graph.features.columns, .values = graph.features.rows.data()};
  else
    dataset.features = {graph.features.rows.data(), graph.num_nodes, dataset.feature_row_bytes(), dataset.fp8_scale};
  dataset.labels = graph.labels;
  dataset.multi_labels = graph.multi_labels;
  dataset.targets = graph.targets;
  dataset.node_times = graph.node_times;
  dataset.train = graph.train;
  dataset.valid = graph.valid;
  dataset.test = graph.test;
  dataset.has_links = graph.has_links;
  dataset.has_link_times = graph.has_link_times;
  for (std::size_t s = 0; s < graph.links.size(); ++s) {
    dataset.links[s].ends = graph.links[s];
    dataset.links[s].times = graph.link_times[s];
  }
  return dataset;
}

StoreOrigin origin_of(const RawGraph& graph) {
  StoreOrigin origin;
  origin.source_path = graph.source_path;
  origin.source_options = graph.source_options;
  origin.rng_seed = graph.rng_seed;
  origin.original_ids = graph.original_ids;
  origin.node_names = &graph.node_names;
  origin.vocabulary = graph.vocabulary;
  origin.negatives = &graph.negatives;
  return origin;
}

StoreManifest manifest_of(const Dataset& dataset, const StoreOrigin& origin, const GraphSize& size) {
  StoreManifest manifest;
  manifest.facts() = dataset.facts();
  manifest.num_nodes = size.num_nodes;
  manifest.num_edges = size.num_entries;
  manifest.is_deduplicated = origin.is_deduplicated;
  manifest.self_loops = origin.self_loops;
  manifest.rng_seed = origin.rng_seed;
  manifest.source_path = origin.source_path;
  manifest.source_options = origin.source_options;
  return manifest;
}

void write_arrays(const Dataset& dataset, StoreWriter& store, std::span<const ArrayPart> parts, Progress* progress) {
  const GraphSize size{dataset.label_table().num_nodes(), static_cast<std::uint64_t>(dataset.num_edges())};
  visit_arrays(dataset, size, [&](const DatasetArray& array, const auto& items) {
    if (std::ranges::find(parts, array.part) != parts.end())
      store.write_array(array.stored, items, array.shape_of(items.size_bytes()), progress);
  });
}

}  // namespace salient
