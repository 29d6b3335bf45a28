// prepare/importers/typed_importer.h - a typed graph from files of nodes for each type, and of edges for each relation.
#pragma once

#include "prepare/importers/typed_graph.h"
#include "prepare/importers/typed_options.h"

namespace salient {

/// Nodes of a type are the rows of its array, or the ids of its table, numbered as import_edges() does: numbers in
/// ascending order, text as it comes. Each type has ids of its own; those of edges, labels and splits are looked up
/// among the ids of their type. The types' nodes are one space of ids, one type behind the other in the options' order.
///
/// There are no problems(options).
/// @throws Error{kNoInput}; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming the user's file and the record.
TypedGraph import_typed(const TypedOptions& options);

}  // namespace salient
