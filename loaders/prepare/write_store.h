// loaders/prepare/write_store.h - RawGraph -> CSR -> a store on disk, complete or not there at all.
#pragma once

#include <filesystem>

#include "loaders/prepare/raw_graph.h"

namespace salient {

struct WriteStoreOptions {
  std::filesystem::path out{};
  int num_threads = 0;  ///< 0 = all cores
  bool force = false;   ///< replace an existing store
};

/// Builds the CSR (symmetrise, sort, deduplicate; self loops stay and are counted), writes every file into a sibling
/// folder, fsyncs, renames. Prints what it met: self loops, duplicates, dropped records.
///
/// Takes the graph by value so that its edge list can be freed early.
/// @throws Error{kUsage} when `out` exists without `force`; Error{kIo} (disk full); Error{kBadData}.
/// Determinism: equal input gives equal bytes, for any number of threads.
void write_store(RawGraph graph, const WriteStoreOptions& options);

}  // namespace salient
