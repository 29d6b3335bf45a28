// prepare/writing/write_store.cpp - see write_store.h.
#include "prepare/writing/write_store.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "core/arena_of.h"
#include "core/console/log.h"
#include "core/console/progress.h"
#include "core/error.h"
#include "core/printable.h"
#include "prepare/writing/csr_builder.h"
#include "prepare/writing/feature_layout.h"
#include "prepare/writing/fp8_features.h"
#include "prepare/writing/negative_files.h"
#include "prepare/writing/store_contents.h"
#include "prepare/writing/store_writer.h"
#include "store/dataset_checks.h"

namespace salient {
namespace {

namespace fs = std::filesystem;

/// A store that open_dataset() refuses is never written.
void check_rules(const Dataset& dataset, const fs::path& out) {
  const DatasetChecks checks(out);
  checks.check_labels(dataset.label_table(), dataset.num_classes);
  checks.check_splits(splits_of(dataset), dataset.label_table());
  for (const std::vector<std::string>* names : {&dataset.class_names, &dataset.column_names})
    for (const std::string& name : *names)
      if (name.find('\n') != std::string::npos)
        fail(ErrorKind::kBadData, out.string() + ": the name '" + name + "' of a class or column has a line break");
}

/// Such names are kept as they are, but no JSON holds them: two may be shown alike, and no request can name one.
void say_what_is_no_utf8(const RawGraph& graph) {
  const auto say_if = [&](std::string_view what, std::string_view name) {
    if (is_utf8(name)) return false;
    log_warning(graph.source_path + ": the " + std::string(what) + " '" + std::string(name) +
                "' is no UTF-8, so that JSON and reports show other characters for it, and salient-serve cannot be "
                "asked for it; write the file anew, as iconv -f WINDOWS-1252 -t UTF-8 does");
    return true;
  };
  for (const std::string& name : graph.class_names)
    if (say_if("class", name)) break;
  for (const std::string& name : graph.features.column_names)
    if (say_if("column", name)) break;
  for (std::size_t node = 0; node < graph.node_names.size(); ++node)
    if (say_if("node", graph.node_names[node])) break;
}

void write_all_arrays(const Dataset& dataset, const StoreOrigin& origin, StoreWriter& store) {
  const std::uint64_t num_nodes = dataset.num_nodes();
  const std::uint64_t total = dataset.graph.indptr.size_bytes() + dataset.graph.indices.size_bytes() +
                              dataset.graph.entries.num_bytes() + dataset.feature_bytes() +
                              dataset.edge_features.num_rows * dataset.edge_features.row_bytes +
                              dataset.label_table().num_nodes() * dataset.label_type().row_bytes();
  Progress progress("writing", total, "bytes");
  using enum ArrayPart;
  write_arrays(dataset, store, std::array{kGraph, kFeatures, kLabels, kSplits}, &progress);
  if (!origin.original_ids.empty()) store.write_array(kOriginalIdsArray, origin.original_ids, {num_nodes}, &progress);
  if (origin.node_names && origin.node_names->size() > 0) {
    const auto& [text, begin] = *origin.node_names;
    store.write_array(kNodeNamesArray, std::span(text), {text.size()}, &progress);
    store.write_array(kNodeNamesBeginArray, std::span(begin), {begin.size()}, &progress);
  }
  if (origin.negatives) write_negatives(dataset, *origin.negatives, store);
  store.write_lines(kClassNamesFile, dataset.class_names);
  store.write_lines(kColumnNamesFile, dataset.column_names);
  store.write_lines(kVocabularyFile, origin.vocabulary);
}

void set_edge_features(const RawFeatures& rows, Dataset& dataset) {
  if (rows.dim == 0) return;
  dataset.edge_feature_dim = rows.dim;
  dataset.edge_feature_type = rows.type;
  dataset.edge_features = {rows.rows.data(), rows.num_rows(), dataset.edge_feature_shape().row_bytes()};
}

}  // namespace

WriteReport write_store(RawGraph graph, const WriteStoreOptions& options) {
  if (graph.num_nodes == 0) fail(ErrorKind::kBadData, graph.source_path + ": a graph without nodes");
  const bool has_classes = graph.task == Task::kMultiClass;
  require((has_classes && graph.labels.empty()) || graph.label_table().num_nodes() == graph.num_nodes,
          "every node has a label, or none has");
  require(graph.features.dim == 0 || graph.features.num_rows() == graph.num_nodes, "every node has a feature row");
  const bool makes_features = options.make_features.kind != MadeFeatures::kNone;
  if (makes_features && graph.features.dim > 0)
    fail(ErrorKind::kUsage, graph.source_path + ": has features already, none are made");
  if (graph.has_link_times &&
      (options.make_features.kind == MadeFeatures::kDegree || options.make_features.kind == MadeFeatures::kPositional))
    fail(ErrorKind::kUsage, graph.source_path + ": features made " + name_of(options.make_features.kind) +
                                " count links that are later than those to be predicted; random:K does not");
  for (const RawFeatures* features : {&graph.features, &graph.edge_values.features})
    say_losses(features->losses, features->file, features->column_names);
  say_what_is_no_utf8(graph);
  const std::uint64_t edges_read = graph.sources.size();
  const std::uint64_t entry_bytes = sizeof(NodeId) + (graph.edge_values.weights.empty() ? 0 : sizeof(float)) +
                                    (graph.edge_values.times.empty() ? 0 : sizeof(std::int64_t));
  graph.memory.check(edges_read * (graph.symmetrise ? 2 : 1) * entry_bytes +
                         graph.num_nodes * (sizeof(EdgeOffset) + sizeof(NodeId) + sizeof(std::int32_t)),
                     graph.source_path);
  if (has_classes && graph.labels.empty()) graph.labels.assign(graph.num_nodes, -1);
  const Repeats repeats = graph.repeats_or_default();
  RawFeatures of_edges;
  const CsrArrays arrays = arena_of(options.num_threads).execute([&] {
    const EdgeValues values = std::exchange(graph.edge_values, {});
    CsrArrays built = build_csr(graph.num_nodes, std::move(graph.sources), std::move(graph.destinations),
                                graph.symmetrise ? EdgeDirections::kBoth : EdgeDirections::kAsGiven, values, repeats);
    if (values.features.dim == 0) return built;
    of_edges = {.type = values.features.type, .dim = values.features.dim};
    of_edges.rows = edge_rows_of(values.features, built, graph.memory);
    built.edges = {};
    return built;
  });
  if (makes_features)
    graph.features = arena_of(options.num_threads).execute([&] {
      return make_features(arrays.view(), options.make_features, graph.features.type, graph.rng_seed, graph.memory);
    });
  if (graph.features.dim > 0) {
    const FeatureLayout layout = layout_for(graph.features, options.feature_layout);
    graph.features = in_layout(std::move(graph.features), layout, graph.memory);
    if (options.in_fp8) graph.features = in_fp8(std::move(graph.features), graph.source_path);
  } else if (options.feature_layout == FeatureLayout::kCsr) {
    fail(ErrorKind::kUsage, graph.source_path + ": has no features to be kept sparse");
  }
  Dataset dataset = dataset_of(graph);
  dataset.graph = arrays.view();
  dataset.has_edge_weights = !arrays.weights.empty();
  dataset.has_edge_times = !arrays.times.empty();
  set_edge_features(of_edges, dataset);
  dataset.feature_origin =
      makes_features ? origin_of(options.make_features, graph.rng_seed) : std::move(graph.feature_origin);
  StoreOrigin origin = origin_of(graph);
  origin.edges_read = edges_read;
  origin.is_deduplicated = repeats != Repeats::kKeep;
  origin.self_loops = arrays.self_loops;
  origin.duplicates = arrays.duplicates;
  return write_store(dataset, origin, options);
}

WriteReport write_store(const Dataset& dataset, const StoreOrigin& origin, const WriteStoreOptions& options) {
  check_rules(dataset, options.out);
  StoreWriter store(options);
  write_all_arrays(dataset, origin, store);
  const StoreManifest manifest =
      manifest_of(dataset, origin, {dataset.num_nodes(), static_cast<std::uint64_t>(dataset.num_edges())});
  return {origin.edges_read, manifest.num_edges,      origin.duplicates,
          origin.self_loops, store.publish(manifest), manifest.feature_dim};
}

}  // namespace salient
