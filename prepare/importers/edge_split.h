// prepare/importers/edge_split.h - links to train on, validate and test: a seeded split of a graph's edges, or a given.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "prepare/importers/raw_graph.h"
#include "prepare/importers/repeats_between.h"

namespace salient {

/// Sets graph.links, and keeps as edges, which become the entries of the store, those of training links alone.
///
/// A pair of nodes is in one split, with both its directions and all its repeats. A link is a distinct edge; where
/// reverses are added, a distinct pair, in the direction that the source has first. Links are in the order of the
/// source. Self loops are no links and are left out, as are edges where the fractions leave a part; both are logged.
///
/// @param fractions  three that check_split() lets pass: of the pairs
/// @throws Error{kBadData} for a graph without pairs, or of which the training gets none; Error{kUsage} for one whose
///         nodes have labels other than classes
/// Determinism: a function of the graph, its rng_seed among it.    Cost: one sort; 16 bytes for each edge beside it.
void split_edges(RawGraph& graph, const std::vector<double>& fractions);

/// Validation and test links that a source keeps apart from its edges.
struct GivenLinks {
  std::array<std::vector<NodeId>, 2> ends{};         ///< [n, 2] each; taken
  std::array<std::vector<std::int64_t>, 2> times{};  ///< [n] each where they have some; taken
  std::array<std::string, 2> files{};                ///< for messages
  std::array<std::vector<std::uint64_t>, 2> kept{};  ///< is set: the records that became links, ascending
  std::array<std::uint64_t, 2> num_records{};        ///< is set: of each before
};

/// Sets graph.links: those of training are its edges, as split_edges() makes links of them; those of validation and
/// test are given, but for self loops and, unless repeats are kept, links that their split has before.
///
/// @param between  what is done with a link whose pair an earlier split has, in either direction
/// @throws as split_edges(); Error{kBadData} for such a link where they are refused
/// Determinism, cost: as split_edges()
void take_given_links(RawGraph& graph, GivenLinks& given, RepeatsBetween between);

}  // namespace salient
