// prepare/writing/ogb_stream.h - OGB's binary layout becomes a store without ever being in memory.
#pragma once

#include <cstdint>

#include "prepare/importers/ogb_importer.h"
#include "prepare/writing/write_store.h"

namespace salient {

/// Whether the files have the binary layout with features in C order, as papers100M has; import_ogb() reads the others.
/// @throws as import_ogb()
bool can_stream_ogb(const OgbOptions& options);

/// import_ogb() and write_store() in one, in bounded memory: features are converted block by block, while on other
/// threads the edges are spread over files in the staged folder, by row, and then sorted file by file.
///
/// @param memory_bytes  the most resident memory that the process may use
/// @throws as import_ogb() and write_store(); Error{kHostMemory} at once when memory_bytes is too little, Error{kIo}
///         when the disk is too small; Interrupted. Nothing is left behind.
/// Determinism:  equal files give equal bytes, for any number of threads and any memory_bytes.
/// Cost:         inflating the features takes longest, on one thread; see docs/DATASETS.md.
/// Oracle:       write_store(import_ogb(options)).
WriteReport stream_ogb(const OgbOptions& options, const WriteStoreOptions& write, std::uint64_t memory_bytes);

}  // namespace salient
