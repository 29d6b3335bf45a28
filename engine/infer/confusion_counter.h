// engine/infer/confusion_counter.h - counts nodes by true and predicted class, on the device, during inference.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "engine/comm/communicator.h"

namespace salient {

/// Only sum_over_ranks() waits for the device.
class ConfusionCounter {
 public:
  /// @param num_classes  memory: 8 bytes times its square
  ConfusionCounter(int num_classes, at::Device device);

  void clear();

  /// @param logits  [S, C] on the device   @param labels  int32 [S], -1 = unlabelled: not counted
  void add(const at::Tensor& logits, const at::Tensor& labels);

  /// Waits for the device. Collective. @return [C, C] nodes, by true class, then predicted; the same on every rank
  std::vector<std::int64_t> sum_over_ranks(Communicator& comm) const;

 private:
  std::int64_t num_classes_;
  at::Tensor counts_;  // int64 [C * C + 1]: row after row, then the unlabelled
};

}  // namespace salient
