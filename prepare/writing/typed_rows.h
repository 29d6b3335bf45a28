// prepare/writing/typed_rows.h - the edges of all relations become the slots of a typed graph.
#pragma once

#include <vector>

#include "core/slot_table.h"
#include "prepare/importers/edge_file.h"
#include "store/csr_arrays.h"
#include "store/graph_schema.h"

namespace salient {

/// Rows are slots, entries ids of the one space; each slot ascends without repeats, which are counted, and so are self
/// loops: entries v in a slot of v.
///
/// @param edges   [relations] ids of their own types; of a relation with reverse_of they are that one's; freed early
/// @param schema  numbered, with counts; gets the entries of each relation
/// Determinism: equal edges, in any order, give equal arrays for any number of threads. Runs in the caller's arena.
/// Cost:        8 bytes per edge given, plus 4 per entry and 12 per slot.
/// Algorithm:   as build_csr().     Oracle: build_slots_reference().
CsrArrays build_slots(GraphSchema& schema, const SlotTable& slots, std::vector<NodePairs> edges);

/// The same contract, written to be read.
CsrArrays build_slots_reference(GraphSchema& schema, const SlotTable& slots, const std::vector<NodePairs>& edges);

}  // namespace salient
