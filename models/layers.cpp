// models/layers.cpp - linear maps.
#include "models/layers.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

namespace salient {

Linear::Linear(std::int64_t in_dim, std::int64_t out_dim, Bias with_bias) {
  weight = register_parameter("weight", at::empty({out_dim, in_dim}, at::kFloat));
  if (with_bias == Bias::kYes) bias = register_parameter("bias", at::empty({out_dim}, at::kFloat));
}

at::Tensor Linear::forward(const at::Tensor& x) const { return at::linear(x.to(at::kFloat), weight, bias); }

}  // namespace salient
