// prepare/importers/ogb_typed.h - OGB's node sets of several types of nodes, as ogbn-mag, from the files of a download.
#pragma once

#include "prepare/importers/ogb_importer.h"
#include "prepare/importers/typed_graph.h"

namespace salient {

/// Whether the folder has the files of such a set. @throws Error{kNoInput} where it is none of OGB's
bool is_typed_ogb(const OgbOptions& options);

/// Reads OGB's typed CSV layout (raw/num-node-dict.csv.gz and so on) or the binary one (raw/num_nodes_dict.npz),
/// whichever is there, the split and the class names. Node ids stay OGB's, those of their type. Edges get reverses
/// unless options.symmetric is kNo.
///
/// @throws as import_ogb(); Error{kBadData} for labels of two types; Error{kHostMemory}
/// Memory: all of it is held, and options.memory is asked before each table.
TypedGraph import_typed_ogb(const OgbOptions& options);

}  // namespace salient
