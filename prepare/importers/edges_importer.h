// prepare/importers/edges_importer.h - a graph from an edge list and, if there are any, files about its nodes.
#pragma once

#include "prepare/importers/edges_options.h"
#include "prepare/importers/raw_graph.h"

namespace salient {

/// Which nodes there are, and how they are numbered:
///
///   an array of features or labels, or labels one a line   its rows; numbers are row numbers. Ids that are text are in
///                                                          the order of the table that has them: features or labels
///   else a table of features                               its ids and no others
///   else a sparse matrix of edges                          its rows, of a Matrix Market file from 1 on; tables have no
///                                                          others
///   else                                                   the ids of labels and edges
///
/// Without arrays numbers that do not fill 0 .. max are renumbered in ascending order, and original_ids keeps
/// them; text is numbered by first appearance in features, labels and edges, and node_names keeps it.
/// A split by fractions is drawn from the labelled nodes.
///
/// There are no problems(options).
/// @throws Error{kNoInput}; Error{kIo}; Error{kHostMemory}; Error{kBadData} naming the user's file and the record.
RawGraph import_edges(const EdgesOptions& options);

}  // namespace salient
