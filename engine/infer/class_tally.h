// engine/infer/class_tally.h - what predictions of one class a node come to: counts by class, and the figures of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/report/metric.h"

namespace salient {

/// Labelled nodes by class. Enough for every figure of this kind, also of more classes than a confusion matrix has.
struct ClassTally {
  explicit ClassTally(std::size_t num_classes = 0)
      : labelled(num_classes, 0), predicted(num_classes, 0), correct(num_classes, 0) {}

  /// @param counts  [C, C] nodes, by true class, then predicted
  static ClassTally of_matrix(std::span<const std::int64_t> counts, std::size_t num_classes);

  void add(std::int32_t label, std::int32_t prediction) {
    ++labelled[static_cast<std::size_t>(label)];
    ++predicted[static_cast<std::size_t>(prediction)];
    if (label == prediction) ++correct[static_cast<std::size_t>(label)];
  }

  std::vector<std::int64_t> labelled{};   ///< [C] nodes of the class
  std::vector<std::int64_t> predicted{};  ///< [C] nodes predicted to be of it
  std::vector<std::int64_t> correct{};    ///< [C] both
};

/// Adds macro-F1, balanced accuracy and the Matthews correlation coefficient; none of them without a labelled node.
///
///   macro-F1            mean of 2 correct / (labelled + predicted) over the classes that have either
///   balanced accuracy   mean of correct / labelled over the classes that have labelled nodes
///   MCC                 Gorodkin's R_K (2004); 0 where all nodes are of one class, or predicted to be
///
/// Oracle: f1_score(average="macro"), balanced_accuracy_score and matthews_corrcoef of scikit-learn
void add_class_figures(const ClassTally& tally, Figures& figures);

}  // namespace salient
