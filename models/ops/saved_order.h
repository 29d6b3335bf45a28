// models/ops/saved_order.h - the order of a gradient's sums, from the forward pass to the backward pass.
#pragma once

#include <torch/csrc/autograd/custom_function.h>

#include "models/numerics.h"

namespace salient {

inline void save_order(torch::autograd::AutogradContext* ctx, GradientOrder order) {
  ctx->saved_data["order"] = static_cast<std::int64_t>(order);
}

inline GradientOrder order_of(torch::autograd::AutogradContext* ctx) {
  return static_cast<GradientOrder>(ctx->saved_data["order"].toInt());
}

}  // namespace salient
