// engine/infer/average_precision.h - the average precision of a binary task, and its mean over several labels.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace salient {

/// The sum over the scores, from the highest on, of the precision of what has at least this score times what that adds
/// to the recall.
///
/// @param scores  [n] larger = more likely of class 1   @param labels  [n] 0 or 1; nodes of other labels are left out
/// @return        in [0, 1]; nullopt without a node of class 1, or where a score is not a number
/// Cost:          one sort. Exact, as scikit-learn's average_precision_score.
std::optional<double> average_precision(std::span<const float> scores, std::span<const std::int8_t> labels);

/// The mean over the labels that have a node with them; arguments as mean_roc_auc().
std::optional<double> mean_average_precision(std::span<const float> scores, std::span<const std::int8_t> labels,
                                             std::size_t num_labels);

}  // namespace salient
