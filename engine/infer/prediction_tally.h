// engine/infer/prediction_tally.h - what counts predictions on the device while they are made.
#pragma once

#include <ATen/core/Tensor.h>

namespace salient {

/// Counts of one task: ConfusionCounter, ValueCounter.
class PredictionTally {
 public:
  PredictionTally() = default;
  virtual ~PredictionTally() = default;
  PredictionTally(const PredictionTally&) = delete;
  PredictionTally& operator=(const PredictionTally&) = delete;

  /// @param logits  [S, C] on the device, of values in the targets' unit
  /// @param labels  [S], or [S, C], as in LabelType
  virtual void add(const at::Tensor& logits, const at::Tensor& labels) = 0;
};

}  // namespace salient
