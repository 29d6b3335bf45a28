// engine/infer/value_counter.h - sums the errors of predicted values, on the device, during inference.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/comm/communicator.h"
#include "engine/infer/prediction_tally.h"
#include "engine/infer/value_sums.h"
#include "store/data_schema.h"

namespace salient {

class ValueCounter final : public PredictionTally {
 public:
  /// @param scales  their means are where ValueSums begin
  ValueCounter(const TargetScales& scales, at::Device device);

  /// @param labels  f32 [S, T], NaN = not known: not counted
  void add(const at::Tensor& logits, const at::Tensor& labels) override;

  /// [T] Waits for the device. Collective; the same on every rank.
  std::vector<ValueSums> sum_over_ranks(Communicator& comm) const;

 private:
  at::Tensor means_;  // f64 [T]
  at::Tensor sums_;   // f64 [5, T]: the fields of ValueSums
};

}  // namespace salient
