// prepare/importers/ogb_links.h - link sets of the Open Graph Benchmark: plain ones, and knowledge graphs.
#pragma once

#include <optional>

#include "prepare/importers/ogb_importer.h"
#include "prepare/importers/repeats_between.h"
#include "prepare/importers/typed_graph.h"
#include "prepare/importers/typed_options.h"

namespace salient {

/// What a set's links are.
enum class OgbLinks {
  kNone,    ///< none: its nodes have labels
  kPairs,   ///< ogbl-collab, -citation2, -ppa, -ddi, -vessel
  kTriples  ///< ogbl-wikikg2, -biokg
};

/// By the files of split/. @throws Error{kNoInput} for a folder that is no set; as ArrayDict
OgbLinks links_of_ogb(const OgbOptions& options);

/// Nodes and their features are read from raw/, in the CSV or binary layout, links and negatives from the files of
/// split/, train.pt and so on, or .npz with the same arrays:
///
///   edge [n, 2], or source_node and target_node [n]; edge_neg [m, 2], target_node_neg [n, K], source_node_neg
///
/// Edges are the training links. Negatives are read when the store is written, block by block.
/// @throws Error{kNoInput}; Error{kHostMemory}; Error{kBadData} naming file and record, or array
RawGraph import_ogb_pairs(const OgbOptions& options, RepeatsBetween between);

/// head, relation, tail [n] and, of several types of nodes, head_type and tail_type; head_neg and tail_neg [n, K].
/// A relation is one of those that training has, from one type to one type; what they are called is in raw/, else
/// their numbers are. @throws as the above
TypedGraph import_ogb_triples(const OgbOptions& options, RepeatsBetween between, Reverses reverses);

}  // namespace salient
