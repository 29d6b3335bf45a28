// prepare/writing/write_typed_store.h - a typed graph as read becomes a store on disk.
#pragma once

#include "prepare/importers/typed_graph.h"
#include "prepare/writing/write_store.h"

namespace salient {

/// As write_store(RawGraph): slots are built, sorted and deduplicated, features of each type take the layout that is
/// best for them, or `feature_layout` where it says one, and a store of format 2 is written.
///
/// @throws as write_store(RawGraph); Error{kBadData} for a schema that breaks a rule
/// Determinism: equal input gives equal bytes, for any number of threads.
WriteReport write_typed_store(TypedGraph graph, const WriteStoreOptions& options);

}  // namespace salient
