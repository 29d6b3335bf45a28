// prepare/writing/negative_files.h - the negatives that links come with become files of a store.
#pragma once

#include "prepare/importers/negative_sources.h"
#include "prepare/writing/store_writer.h"
#include "store/dataset.h"

namespace salient {

/// @param dataset  with its graph and links
/// @throws Error{kBadData} for rows that are not one for each link, ids of no node, and negatives that are links where
///         those are refused; as NegativeSource::read and StoreWriter::write_array()
/// Memory: KnownPairs, beside what a source reads at a time
void write_negatives(const Dataset& dataset, const LinkNegativeSources& sources, StoreWriter& store);

}  // namespace salient
