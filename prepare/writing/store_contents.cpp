// prepare/writing/store_contents.cpp - see store_contents.h.
#include "prepare/writing/store_contents.h"

#include <cstdint>

namespace salient {

Dataset dataset_of(const RawGraph& graph) {
  Dataset dataset;
  dataset.name = graph.name;
  dataset.source_kind = graph.source_kind;
  dataset.task = graph.task;
  dataset.num_classes = graph.num_classes;
  dataset.feature_dim = graph.features.dim;
  dataset.feature_type = graph.features.type;
  dataset.is_symmetric = graph.symmetrise;
  dataset.features = {graph.features.rows.data(), graph.num_nodes,
                      static_cast<std::size_t>(graph.features.dim) * size_of(graph.features.type)};
  dataset.labels = graph.labels;
  dataset.multi_labels = graph.multi_labels;
  dataset.train = graph.train;
  dataset.valid = graph.valid;
  dataset.test = graph.test;
  return dataset;
}

StoreOrigin origin_of(const RawGraph& graph) {
  StoreOrigin origin;
  origin.source_path = graph.source_path;
  origin.source_options = graph.source_options;
  origin.rng_seed = graph.rng_seed;
  origin.original_ids = graph.original_ids;
  origin.class_names = graph.class_names;
  origin.vocabulary = graph.vocabulary;
  return origin;
}

StoreManifest manifest_of(const Dataset& dataset, const StoreOrigin& origin, StoreSize size) {
  StoreManifest manifest;
  manifest.name = dataset.name;
  manifest.num_nodes = size.num_nodes;
  manifest.num_edges = size.num_entries;
  manifest.task = dataset.task;
  manifest.num_classes = dataset.num_classes;
  manifest.feature_dim = dataset.feature_dim;
  manifest.feature_type = dataset.feature_type;
  manifest.is_symmetric = dataset.is_symmetric;
  manifest.self_loops = origin.self_loops;
  manifest.rng_seed = origin.rng_seed;
  manifest.source_kind = dataset.source_kind;
  manifest.source_path = origin.source_path;
  manifest.source_options = origin.source_options;
  return manifest;
}

void write_labels_and_splits(const Dataset& dataset, StoreWriter& store, Progress* progress) {
  const StoreArray labels = labels_array(dataset.task);
  const std::uint64_t num_nodes = dataset.label_table().num_nodes();
  if (dataset.task == Task::kMultiLabel)
    store.write_array(labels, dataset.multi_labels, {num_nodes, static_cast<std::uint64_t>(dataset.num_classes)},
                      progress);
  else
    store.write_array(labels, dataset.labels, {num_nodes}, progress);
  store.write_array(kTrainArray, dataset.train, {dataset.train.size()}, progress);
  store.write_array(kValidArray, dataset.valid, {dataset.valid.size()}, progress);
  store.write_array(kTestArray, dataset.test, {dataset.test.size()}, progress);
}

}  // namespace salient
