// engine/infer/confusion_counter.h - counts nodes by true and predicted class, on the device, during inference.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/comm/communicator.h"
#include "engine/infer/class_tally.h"
#include "engine/infer/prediction_tally.h"

namespace salient {

/// The confusion matrix of up to kMaxConfusionClasses classes, of more the counts of each class alone. Only the sums
/// wait for the device.
class ConfusionCounter final : public PredictionTally {
 public:
  /// @param num_classes  memory: 8 bytes times its square, or three times as many
  ConfusionCounter(int num_classes, at::Device device);

  bool has_matrix() const { return has_matrix_; }
  void clear();

  /// @param labels  int32 [S], -1 = unlabelled: not counted
  void add(const at::Tensor& logits, const at::Tensor& labels) override;

  /// What all ranks counted.
  struct Sums {
    std::vector<std::int64_t> matrix{};  ///< [C, C] nodes, by true class, then predicted; empty without a matrix
    ClassTally tally{};
  };
  /// Waits for the device. Collective; the same on every rank.
  Sums sum_over_ranks(Communicator& comm) const;

 private:
  std::int64_t num_classes_;
  bool has_matrix_;
  at::Tensor counts_;  // int64 [C * C + 1]: row after row, then the unlabelled; or [3 C + 1]: as in ClassTally
};

}  // namespace salient
