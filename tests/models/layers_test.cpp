// tests/models/layers_test.cpp - what a norm does with batches that have no variance.
#include "models/layers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace salient {
namespace {

TEST(BatchNorm, LeavesItsStatisticsAloneForLessThanTwoRows) {
  BatchNorm norm(3);
  for (const std::int64_t rows : {0, 1}) EXPECT_EQ(norm.forward(at::ones({rows, 3})).size(0), rows);
  EXPECT_TRUE(at::equal(norm.named_buffers()["running_mean"], at::zeros({3})));
  EXPECT_EQ(norm.named_buffers()["num_batches_tracked"].item<int>(), 0);
  norm.forward(at::randn({2, 3}));
  EXPECT_FALSE(at::equal(norm.named_buffers()["running_mean"], at::zeros({3})));
}

}  // namespace
}  // namespace salient
