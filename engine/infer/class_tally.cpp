// engine/infer/class_tally.cpp - see class_tally.h.
#include "engine/infer/class_tally.h"

#include <cmath>

#include "core/error.h"

namespace salient {

ClassTally ClassTally::of_matrix(std::span<const std::int64_t> counts, std::size_t num_classes) {
  require(counts.size() == num_classes * num_classes, "a confusion matrix is square");
  ClassTally tally(num_classes);
  for (std::size_t truth = 0; truth < num_classes; ++truth) {
    for (std::size_t guess = 0; guess < num_classes; ++guess) {
      tally.labelled[truth] += counts[truth * num_classes + guess];
      tally.predicted[guess] += counts[truth * num_classes + guess];
    }
    tally.correct[truth] = counts[truth * num_classes + truth];
  }
  return tally;
}

void add_class_figures(const ClassTally& tally, Figures& figures) {
  double nodes = 0, right = 0, f1_sum = 0, f1_classes = 0, recall_sum = 0, recall_classes = 0;
  double products = 0, labelled_squares = 0, predicted_squares = 0;
  for (std::size_t c = 0; c < tally.labelled.size(); ++c) {
    const auto labelled = static_cast<double>(tally.labelled[c]), predicted = static_cast<double>(tally.predicted[c]);
    const auto correct = static_cast<double>(tally.correct[c]);
    nodes += labelled;
    right += correct;
    products += labelled * predicted;
    labelled_squares += labelled * labelled;
    predicted_squares += predicted * predicted;
    if (labelled + predicted > 0) f1_sum += 2 * correct / (labelled + predicted), ++f1_classes;
    if (labelled > 0) recall_sum += correct / labelled, ++recall_classes;
  }
  if (nodes == 0) return;
  figures[Metric::kMacroF1] = f1_sum / f1_classes;
  figures[Metric::kBalancedAccuracy] = recall_sum / recall_classes;
  const double variances = (nodes * nodes - predicted_squares) * (nodes * nodes - labelled_squares);
  figures[Metric::kMcc] = variances > 0 ? (right * nodes - products) / std::sqrt(variances) : 0;
}

}  // namespace salient
