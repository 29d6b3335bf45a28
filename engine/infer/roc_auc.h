// engine/infer/roc_auc.h - the area under the ROC curve of a binary task, and its mean over several labels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace salient {

/// The probability that a node of class 1 has a higher score than one of class 0; ties count one half.
///
/// @param scores  [n] larger = more likely of class 1   @param labels  [n] 0 or 1; nodes of other labels are left out
/// @return        in [0, 1]; nullopt where a class is missing or a score is not a number
/// Cost:          one sort.   Algorithm: ranks, as Mann and Whitney (1947); exact, as in sklearn's roc_auc_score.
/// Oracle:        roc_auc_reference(), all pairs
std::optional<double> roc_auc(std::span<const float> scores, std::span<const std::int8_t> labels);
std::optional<double> roc_auc_reference(std::span<const float> scores, std::span<const std::int8_t> labels);

/// The mean over the labels that have both values, as in OGB's evaluator of ogbn-proteins.
///
/// @param scores  [T, n]   @param labels  [T, n] as above, label after label
/// @return        nullopt where no label has both, or the score of one that has is not a number
/// Threads:       runs on the caller's oneTBB arena.
std::optional<double> mean_roc_auc(std::span<const float> scores, std::span<const std::int8_t> labels,
                                   std::size_t num_labels);

}  // namespace salient
