// apps/link_scores.h - scores of pairs of nodes by a run that predicts links.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "apps/infer_run.h"
#include "sampler/link_seeds.h"

namespace salient {

/// Runs of nodes predict nodes, and runs of links score links, or find them. @throws Error{kUsage} for anything else
void require_asked_of(const InferRun& run);

/// Pairs of ids, a line each, in the order of the file.
/// @throws Error{kNoInput}; Error{kBadData} naming file, line and rule, for an id that no node has
std::vector<NodePair> read_pairs(const Dataset& dataset, const std::string& file);

/// Predicts the ends of the pairs, as nodes are, and scores them. Writes scores.csv into `folder`: source, destination,
/// by their ids, and score. One rank.
/// @param run      its `nodes` become the ends    @param scratch  as predict()
void write_link_scores(InferRun& run, const std::filesystem::path& folder, const std::filesystem::path& scratch);

/// Of links that have relations: predicts all nodes, and writes what --links or --nodes ask for as an embedding model
/// does: see write_triple_results(). One rank.
/// @param run      its `nodes` become all nodes    @param scratch  as predict()
void write_typed_links(InferRun& run, const std::filesystem::path& folder, const std::filesystem::path& scratch);

/// Predicts all nodes, and writes best.csv into `folder`: see write_best_links(). One rank.
/// @param run      its `nodes` are one end of the links, and become all nodes    @param scratch  as predict()
/// Cost: a decoder's score for each node of `run` and each node of the graph. Memory: a row for each node.
void write_likeliest_links(InferRun& run, const std::filesystem::path& folder, const std::filesystem::path& scratch);

}  // namespace salient
