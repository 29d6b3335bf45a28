// engine/infer/target_unit.cpp - see target_unit.h.
#include "engine/infer/target_unit.h"

#include <ATen/ops/tensor.h>

#include "core/error.h"

namespace salient {

TargetUnit::TargetUnit(const Dataset& dataset, at::Device device) {
  if (dataset.task != Task::kRegression) return;
  require(dataset.target_scales.size() == 2 * static_cast<std::size_t>(dataset.num_classes), "a scale of each target");
  const at::Tensor scales = at::tensor(dataset.target_scales, at::kFloat).to(device);
  means_ = scales.narrow(0, 0, dataset.num_classes);
  deviations_ = scales.narrow(0, dataset.num_classes, dataset.num_classes);
}

at::Tensor TargetUnit::of(const at::Tensor& outputs) const {
  return means_.defined() && outputs.defined() ? outputs * deviations_ + means_ : outputs;
}

}  // namespace salient
