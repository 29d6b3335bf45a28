// store/dataset.cpp - see dataset.h.
#include "store/dataset.h"

#include "core/arena_of.h"
#include "core/console/progress.h"
#include "store/checksums.h"
#include "store/dataset_checks.h"
#include "store/open_store.h"

namespace salient {

Dataset open_dataset(const std::filesystem::path& directory, int num_threads) {
  return open_store(directory, num_threads, FeatureFile::kNeeded).dataset;
}

void verify_dataset(const std::filesystem::path& directory, int num_threads) {
  const OpenedStore store = open_store(directory, num_threads, FeatureFile::kOrParts);
  const CsrGraph graph = store.dataset.graph;
  const DatasetChecks checks(directory);
  arena_of(num_threads).execute([&] {
    Progress progress("checksums", bytes_of_files(store.manifest), "bytes");
    check_checksums(directory, store.manifest, &progress);
    checks.check_rows_ascend(graph, store.manifest.is_deduplicated);
    checks.check_self_loops(graph, store.manifest.self_loops);
    if (store.manifest.is_symmetric) checks.check_reverse_edges(graph);
    if (store.dataset.features.data != nullptr) checks.check_finite(store.dataset.features, store.dataset.feature_type);
    checks.check_values(store.dataset.sparse_features, store.dataset.feature_type);
  });
}

}  // namespace salient
