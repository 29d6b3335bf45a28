// apps/triple_classification.h - links of a knowledge graph told from negatives that are given in files.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "apps/infer_options.h"
#include "apps/triple_model.h"

namespace salient {

/// Calls use(triple, line) for each of a file of triples by names, in the order of its lines. @return  how many
/// @throws Error{kNoInput}; Error{kBadData} naming file, line and rule for an unknown entity or relation
std::uint64_t read_asked_triples(const TripleModel& model, const std::string& file,
                                 const std::function<void(const AskedTriple& triple, std::uint64_t line)>& use);

struct TripleAccuracies {
  double valid = 0, test = 0;
};

/// Scores the validation and the test links of the data set and the negatives of two files, and writes accuracy.csv
/// into `folder`: relation, threshold, and of either split links, negatives and accuracy, a line each and "all".
/// Thresholds are those of ScoreThresholds of the validation triples.
/// @throws Error{kUsage} where the data set lacks validation or test links; as read_asked_triples(); Error{kBadData}
///         for a negative that is a link; Error{kDiverged} for a score that is not a number
TripleAccuracies write_triple_accuracies(TripleModel& model, const NegativeFiles& negatives,
                                         const std::filesystem::path& folder);

}  // namespace salient
