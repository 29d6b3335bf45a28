// tests/engine/infer/inference_round_gpu_test.cpp - the counts of logits on a GPU are those of the host.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/comm/communicator.h"
#include "engine/infer/inference_round.h"

namespace salient {
namespace {

/// Small integers, so that many are equal, some of them not finite; every fifth label is unknown.
TEST(AccuracyCounterOnDevice, CountsWhatTheHostCounts) {
  at::manual_seed(1);
  const auto comm = make_self_communicator();
  for (const std::int64_t num_classes : {1, 3, 32, 172}) {
    AccuracyCounter host(at::kCPU), device(at::kCUDA);
    for (const std::int64_t num_nodes : {0, 1, 5000}) {
      at::Tensor logits = at::randint(-3, 4, {num_nodes, num_classes}, at::kFloat);
      const at::Tensor chosen = at::randint(0, 4 * num_classes, logits.sizes());
      logits = logits.masked_fill(chosen.eq(0), NAN).masked_fill(chosen.eq(1), INFINITY);
      logits = logits.masked_fill(chosen.eq(2), -INFINITY);
      at::Tensor labels = at::randint(0, num_classes, {num_nodes}, at::kInt);
      labels = labels.masked_fill(at::arange(num_nodes).remainder(5).eq(4), -1);
      host.add(logits, labels);
      const at::Tensor padded =
          at::full({num_nodes, num_classes + 4}, 9, at::TensorOptions(at::kCUDA).dtype(at::kFloat));
      at::Tensor in_padded = padded.narrow(1, 0, num_classes);
      in_padded.copy_(logits);
      device.add(in_padded, labels.to(at::kCUDA));
    }
    const InferenceCounts expected = host.sum_over_ranks(*comm), found = device.sum_over_ranks(*comm);
    EXPECT_EQ(found.nodes, expected.nodes);
    EXPECT_EQ(found.labelled, expected.labelled);
    EXPECT_EQ(found.correct, expected.correct) << num_classes << " classes";
    EXPECT_EQ(found.not_finite, expected.not_finite);
    EXPECT_GT(found.correct, 0);
    EXPECT_GT(found.not_finite, 0);
    EXPECT_EQ(found.positives, 0);
  }
}

}  // namespace
}  // namespace salient
