// prepare/writing/store_contents.h - what a store says about a graph, whether that was in memory or streamed.
#pragma once

#include <cstdint>
#include <span>

#include "prepare/importers/raw_graph.h"
#include "prepare/writing/store_writer.h"
#include "prepare/writing/write_store.h"
#include "store/dataset.h"
#include "store/dataset_arrays.h"
#include "store/store_manifest.h"

namespace salient {

/// Everything but the CSR, name and source kind included. Borrows the graph's arrays.
Dataset dataset_of(const RawGraph& graph);

/// The rest of it; counts of edges are the caller's. Borrows likewise.
StoreOrigin origin_of(const RawGraph& graph);

/// All of dataset.json but the files, which StoreWriter knows.
StoreManifest manifest_of(const Dataset& dataset, const StoreOrigin& origin, const GraphSize& size);

/// The files of these arrays. @throws as StoreWriter::write_array()
void write_arrays(const Dataset& dataset, StoreWriter& store, std::span<const ArrayPart> parts,
                  Progress* progress = nullptr);

}  // namespace salient
