// engine/train/device_targets.h - what resident steps compare logits with, in GPU memory. In a CUDA build.
#pragma once

#include <cstdint>

#include "core/cuda/cuda.h"
#include "engine/train/train_options.h"
#include "models/resident/loss.h"
#include "store/dataset.h"

namespace salient {

/// The classes of all nodes, and what they count; or values, in units of their deviations.
class DeviceTargets {
 public:
  DeviceTargets(const TrainOptions& options, const Dataset& dataset);
  SeedTargets view() const;
  static std::int64_t bytes(const Dataset& dataset);

 private:
  DeviceArray<std::int32_t> classes_;  // or none
  DeviceArray<float> weights_;         // none: classes count alike
  DeviceArray<float> values_;          // of regression
  RegressionLoss regression_;
};

}  // namespace salient
