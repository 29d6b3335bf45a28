// engine/infer/target_unit.h - a model's outputs as values in the unit of the targets.
#pragma once

#include <ATen/core/Tensor.h>

#include "store/dataset.h"

namespace salient {

/// Of regression outputs times deviation plus mean (DataSchema::target_scales); of other tasks outputs as they are.
class TargetUnit {
 public:
  TargetUnit() = default;  ///< outputs as they are
  TargetUnit(const Dataset& dataset, at::Device device);

  /// @param outputs  f32 [S, C] on the device; not waited for
  at::Tensor of(const at::Tensor& outputs) const;

 private:
  at::Tensor means_, deviations_;  // f32 [T] on the device, or undefined
};

}  // namespace salient
