// store/dataset.cpp - see dataset.h.
#include "store/dataset.h"

#include <string>

#include "core/arena_of.h"
#include "core/console/progress.h"
#include "store/checksums.h"
#include "store/dataset_checks.h"
#include "store/link_checks.h"
#include "store/open_store.h"
#include "store/typed_checks.h"

namespace salient {

std::uint64_t Dataset::feature_bytes() const {
  const auto bytes_of = [](const RowTable& rows, const SparseRowTable& sparse, const FeatureShape& shape) {
    return shape.is_sparse() ? sparse.num_bytes(size_of(shape.type)) : std::uint64_t{rows.num_rows} * rows.row_bytes;
  };
  if (!types.is_typed()) return bytes_of(features, sparse_features, feature_shape());
  std::uint64_t bytes = 0;
  for (std::size_t t = 0; t < type_features.size(); ++t)
    bytes += bytes_of(type_features[t].rows, type_features[t].sparse, types.node_types[t].features);
  return bytes;
}

void use_slots(Dataset& dataset) {
  if (!dataset.types.is_typed()) return;
  dataset.slots = std::make_shared<const SlotTable>(slot_table_of(dataset.types));
  dataset.graph.slots = dataset.slots.get();
}

void complete(Dataset& dataset) {
  use_slots(dataset);
  if (dataset.types.is_typed()) {
    for (FeatureTable& table : dataset.type_features) table.sparse.longest = LongestRows(table.sparse.begin);
    const FeatureTable& target = dataset.type_features[static_cast<std::size_t>(dataset.types.target_type)];
    dataset.features = target.rows;
    dataset.sparse_features = target.sparse;
  } else {
    dataset.sparse_features.longest = LongestRows(dataset.sparse_features.begin);
  }
}

Dataset open_dataset(const std::filesystem::path& directory, int num_threads) {
  return open_store(directory, num_threads, FeatureFile::kNeeded).dataset;
}

void verify_dataset(const std::filesystem::path& directory, int num_threads) {
  const OpenedStore store = open_store(directory, num_threads, FeatureFile::kOrParts, GraphKind::kAny);
  const Dataset& dataset = store.dataset;
  const CsrGraph graph = dataset.graph;
  const DatasetChecks checks(directory);
  arena_of(num_threads).execute([&] {
    Progress progress("checksums", bytes_of_files(store.manifest), "bytes");
    check_checksums(directory, store.manifest, &progress);
    checks.check_rows_ascend(graph, store.manifest.is_deduplicated);
    checks.check_self_loops(graph, store.manifest.self_loops);
    FeatureNames of_edges;
    of_edges.rows = "edge_features";
    checks.check_finite(dataset.edge_features, dataset.edge_feature_type, of_edges);
    if (store.manifest.is_symmetric) checks.check_reverse_edges(graph, dataset.edge_features);
    const bool may_repeat = store.manifest.source_options.find(kKeepsRepeats) != std::string::npos;
    if (dataset.has_links) verify_links(dataset, checks, may_repeat ? MayRepeat::kYes : MayRepeat::kNo);
    if (dataset.types.is_typed()) return verify_typed(directory, dataset);
    if (dataset.features.data != nullptr) checks.check_finite(dataset.features, dataset.feature_type);
    checks.check_values(dataset.sparse_features, dataset.feature_type);
  });
}

}  // namespace salient
