// engine/train/device_targets.h - what resident steps compare logits with, in GPU memory. In a CUDA build.
#pragma once

#include <cstdint>
#include <optional>

#include "core/cuda/cuda.h"
#include "engine/plan/batch_plan.h"
#include "engine/train/train_options.h"
#include "models/resident/loss.h"
#include "models/resident/tree_links.h"
#include "store/dataset.h"

namespace salient {

/// The classes of all nodes, and what they count; or values, in units of their deviations; or the training links.
class DeviceTargets {
 public:
  /// @param spec  of resident training
  DeviceTargets(const TrainOptions& options, const ResidentSpec& spec, const Dataset& dataset);
  SeedTargets view() const;
  /// That batches are of; none: they are of nodes.
  const std::optional<TreeLinks>& links() const { return links_; }
  static std::int64_t bytes(const ResidentSpec& spec, const Dataset& dataset);

 private:
  DeviceArray<std::int32_t> classes_;  // or none
  DeviceArray<float> weights_;         // none: classes count alike
  DeviceArray<float> values_;          // of regression
  RegressionLoss regression_;
  DeviceArray<NodeId> ends_;  // of links_
  std::optional<TreeLinks> links_{};
  PairTargets pairs_{};
};

}  // namespace salient
