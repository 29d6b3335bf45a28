// loaders/prepare/write_store.cpp - see write_store.h.
#include "loaders/prepare/write_store.h"

#include <oneapi/tbb/task_arena.h>

#include <array>
#include <utility>

#include "engine/core/error.h"
#include "engine/core/progress.h"
#include "loaders/dataset_checks.h"
#include "loaders/prepare/csr_builder.h"
#include "loaders/prepare/store_writer.h"
#include "loaders/store_manifest.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

oneapi::tbb::task_arena arena_of(int num_threads) {
  return oneapi::tbb::task_arena(num_threads > 0 ? num_threads : oneapi::tbb::task_arena::automatic);
}

/// A store that open_dataset() refuses is never written.
void check_rules(const Dataset& dataset, const fs::path& out) {
  const DatasetChecks checks(out);
  checks.check_labels(dataset.label_table(), dataset.num_classes);
  const std::array splits = {SplitView{"train.npy", dataset.train}, SplitView{"valid.npy", dataset.valid},
                             SplitView{"test.npy", dataset.test}};
  checks.check_splits(splits, dataset.label_table());
}

void write_arrays(const Dataset& dataset, const StoreOrigin& origin, StoreWriter& store) {
  const std::uint64_t num_nodes = dataset.num_nodes();
  const std::uint64_t total = dataset.graph.indptr.size_bytes() + dataset.graph.indices.size_bytes() +
                              num_nodes * (dataset.features.row_bytes + dataset.label_type().row_bytes());
  Progress progress("writing", total, "bytes");
  const auto write = [&]<class T>(const std::string& name, std::string_view dtype, std::span<const T> values,
                                  std::vector<std::uint64_t> shape) {
    store.write_array(name, dtype, values, std::move(shape), &progress);
  };
  write("indptr.npy", "<i8", dataset.graph.indptr, {num_nodes + 1});
  write("indices.npy", "<u4", dataset.graph.indices, {dataset.graph.indices.size()});
  if (dataset.task == Task::kMultiLabel)
    write("labels.npy", "|i1", dataset.multi_labels, {num_nodes, static_cast<std::uint64_t>(dataset.num_classes)});
  else
    write("labels.npy", "<i4", dataset.labels, {num_nodes});
  write("train.npy", "<u4", dataset.train, {dataset.train.size()});
  write("valid.npy", "<u4", dataset.valid, {dataset.valid.size()});
  write("test.npy", "<u4", dataset.test, {dataset.test.size()});
  if (dataset.feature_dim > 0) {
    const std::span bytes(dataset.features.data, num_nodes * dataset.features.row_bytes);
    write("features.npy", dataset.feature_type == FeatureType::kF16 ? "<f2" : "<f4", bytes,
          {num_nodes, static_cast<std::uint64_t>(dataset.feature_dim)});
  }
  if (!origin.original_ids.empty()) write("original_ids.npy", "<u8", origin.original_ids, {num_nodes});
  store.write_lines("class_names.txt", origin.class_names);
  store.write_lines("vocabulary.txt", origin.vocabulary);
}

StoreManifest manifest_of(const Dataset& dataset, const StoreOrigin& origin) {
  StoreManifest manifest;
  manifest.name = dataset.name;
  manifest.num_nodes = dataset.num_nodes();
  manifest.num_edges = static_cast<std::uint64_t>(dataset.num_edges());
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

}  // namespace

WriteReport write_store(RawGraph graph, const WriteStoreOptions& options) {
  if (graph.num_nodes == 0) fail(ErrorKind::kBadData, graph.source_path + ": a graph without nodes");
  const bool has_classes = graph.task == Task::kMultiClass;
  require((has_classes && graph.labels.empty()) || graph.label_table().num_nodes() == graph.num_nodes,
          "every node has a label, or none has");
  require(graph.features.rows.size() ==
              graph.num_nodes * static_cast<std::size_t>(graph.features.dim) * size_of(graph.features.type),
          "every node has a feature row");
  StoreOrigin origin;
  origin.edges_read = graph.sources.size();
  if (has_classes && graph.labels.empty()) graph.labels.assign(graph.num_nodes, -1);
  const CsrArrays arrays = arena_of(options.num_threads).execute([&] {
    return build_csr(graph.num_nodes, std::move(graph.sources), std::move(graph.destinations),
                     graph.symmetrise ? EdgeDirections::kBoth : EdgeDirections::kAsGiven);
  });
  Dataset dataset;
  dataset.name = graph.name;
  dataset.source_kind = graph.source_kind;
  dataset.task = graph.task;
  dataset.num_classes = graph.num_classes;
  dataset.feature_dim = graph.features.dim;
  dataset.feature_type = graph.features.type;
  dataset.is_symmetric = graph.symmetrise;
  dataset.graph = arrays.view();
  dataset.features = {graph.features.rows.data(), graph.num_nodes,
                      static_cast<std::size_t>(graph.features.dim) * size_of(graph.features.type)};
  dataset.labels = graph.labels;
  dataset.multi_labels = graph.multi_labels;
  dataset.train = graph.train;
  dataset.valid = graph.valid;
  dataset.test = graph.test;
  origin.source_path = graph.source_path;
  origin.source_options = graph.source_options;
  origin.rng_seed = graph.rng_seed;
  origin.self_loops = arrays.self_loops;
  origin.duplicates = arrays.duplicates;
  origin.original_ids = graph.original_ids;
  origin.class_names = graph.class_names;
  origin.vocabulary = graph.vocabulary;
  return write_store(dataset, origin, options);
}

WriteReport write_store(const Dataset& dataset, const StoreOrigin& origin, const WriteStoreOptions& options) {
  check_rules(dataset, options.out);
  StoreWriter store(options);
  write_arrays(dataset, origin, store);
  const StoreManifest manifest = manifest_of(dataset, origin);
  return {origin.edges_read, manifest.num_edges, origin.duplicates, origin.self_loops, store.publish(manifest)};
}

}  // namespace salient
