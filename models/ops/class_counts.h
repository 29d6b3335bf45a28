// models/ops/class_counts.h - models/kernels/class_counts.h for tensors on a GPU.
#pragma once

#include <ATen/core/Tensor.h>

#include "models/kernels/class_counts.h"

namespace salient {

/// Does not wait for the device.
///
/// @param logits  f32 [S, C], neighbouring classes in neighbouring words
/// @param labels  int32 [S]; negative = none
void add_class_counts(const at::Tensor& logits, const at::Tensor& labels, const ClassCounts& counts);

}  // namespace salient
