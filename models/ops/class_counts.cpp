// models/ops/class_counts.cpp - see class_counts.h.
#include "models/ops/class_counts.h"

#include "core/error.h"
#include "models/ops/kernel_call.h"

namespace salient {

void add_class_counts(const at::Tensor& logits, const at::Tensor& labels, const ClassCounts& counts) {
  require(logits.scalar_type() == at::kFloat && logits.dim() == 2 && logits.size(1) > 0 && logits.stride(1) == 1,
          "logits are rows of f32");
  require(labels.scalar_type() == at::kInt && labels.is_contiguous() && labels.numel() == logits.size(0),
          "a label for every row of logits");
  require(logits.is_cuda() && labels.device() == logits.device(), "logits and labels are on one GPU");
  const c10::DeviceGuard guard(logits.device());
  count_classes({pointer<float>(logits), logits.stride(0), logits.size(0), logits.size(1)},
                pointer<std::int32_t>(labels), counts, current_stream(logits.device()));
}

}  // namespace salient
