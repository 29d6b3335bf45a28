// prepare/writing/repeated_reverses.h - reverses that would give a relation's entries a second time are left out.
#pragma once

#include "prepare/importers/typed_graph.h"

namespace salient {

/// A relation within a type that lists every edge both ways is its own reverse: a relation made as its reverse would
/// have the same entries again, and a model twice the weights for them. Those are taken out of the schema, which is
/// numbered anew, and a line says so.
///
/// @param graph  without links, whose relations are named by their numbers
/// Cost: a pass over the edges of relations within a type; of those that are both ways, sorting and 16 bytes an edge.
/// @throws Error{kHostMemory}
void drop_repeated_reverses(TypedGraph& graph);

}  // namespace salient
