// apps/embedding_results.h - what salient-infer says by a model of a knowledge graph: embeddings, or paths.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "apps/infer_options.h"

namespace salient {

/// What a run of links needs to be asked for.
inline constexpr char kLinksOrNodes[] =
    "--links: is needed, a file of links to be scored, or --nodes, whose likeliest links --top-k counts, as the run "
    "predicts links";

class TripleModel;

/// Writes into `folder` scores.csv of the triples of --links, or best.csv of --nodes: see write_embedding_results().
/// @return  of how many triples, or nodes
std::uint64_t write_triple_results(TripleModel& model, const InferOptions& said, const std::filesystem::path& folder);

/// @throws Error{kUsage} naming the first option that is of runs with an encoder
void require_options_of_embeddings(const InferOptions& said);

/// Writes into `folder` scores.csv of the triples of --links: source, relation, destination by their names, score; or
/// best.csv of --nodes, as write_best_links() does; or accuracy.csv of --valid-negatives and --test-negatives. On
/// --threads.
///
/// Scores are those of docs/LINKS.md, by the best checkpoint, and do not depend on threads.
/// @return  inference.json: how the files were made
/// @throws Error{kUsage} for a relation that is not there, or is a reverse; Error{kNoInput}; Error{kBadData} naming
///         file, line and rule for a triple of an unknown entity or relation
std::string write_embedding_results(const InferOptions& said, const char* program, const std::filesystem::path& folder);

}  // namespace salient
