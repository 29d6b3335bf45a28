// tests/models/ops/dropout_test.cpp - gradients of dropout use the mask of the forward pass.
#include "models/ops/dropout.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace salient {
namespace {

TEST(NodeDropout, GradientUsesTheMaskOfTheForwardPass) {
  const DropoutKey key{1, 2, at::arange(20, at::kInt)};
  const at::Tensor x = at::rand({20, 30}).add(0.5).requires_grad_();
  const at::Tensor out = node_dropout(x, 0.4, key, 1);
  out.backward(at::ones_like(out));
  EXPECT_TRUE(at::allclose(x.grad() * x, out));
  EXPECT_GT((out == 0).sum().item<int>(), 0);
  EXPECT_TRUE(at::equal(node_dropout(x, 0, key, 1), x));
}

TEST(ReluDropout, EqualsReluThenDropoutAndSoDoesItsGradient) {
  const DropoutKey key{1, 2, at::arange(20, at::kInt)};
  const at::Tensor values = at::randn({20, 30}), grad = at::randn({20, 30});
  const at::Tensor x = values.clone().requires_grad_(), y = values.clone().requires_grad_();
  const at::Tensor fused = relu_dropout(x, 0.5, key, 1), plain = node_dropout(at::relu(y), 0.5, key, 1);
  EXPECT_TRUE(at::equal(fused, plain));
  fused.backward(grad);
  plain.backward(grad);
  EXPECT_TRUE(at::equal(x.grad(), y.grad()));
}

}  // namespace
}  // namespace salient
