// tests/engine/infer/inference_round_test.cpp - the counts behind accuracy and F1, against a count by hand.
#include "engine/infer/inference_round.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>

#include "engine/comm/communicator.h"

namespace salient {
namespace {

at::Tensor rows_of(const std::vector<float>& values, std::int64_t width) {
  return at::tensor(values).view({-1, width});
}

TEST(AccuracyCounter, CountsNodesWithOneLabel) {
  const auto comm = make_self_communicator();
  AccuracyCounter counter(at::kCPU);
  counter.add(rows_of({3, 1, 0, 5, 2, 9}, 2), at::tensor({0, 0, -1}, at::kInt));  // right, wrong, unlabelled
  counter.add(at::empty({0, 2}), at::empty({0}, at::kInt));                       // a round without nodes
  const InferenceCounts counts = counter.sum_over_ranks(*comm);
  EXPECT_EQ(counts.nodes, 3);
  EXPECT_EQ(counts.labelled, 2);
  EXPECT_EQ(counts.correct, 1);
  EXPECT_EQ(counts.not_finite, 0);
  EXPECT_EQ(counts.positives, 0);
}

TEST(AccuracyCounter, CountsNodesWhoseLogitsAreNotNumbers) {
  const auto comm = make_self_communicator();
  AccuracyCounter counter(at::kCPU);
  counter.add(rows_of({NAN, 1, 1, INFINITY, 1, 2}, 2), at::tensor({0, 1, 1}, at::kInt));
  EXPECT_EQ(counter.sum_over_ranks(*comm).not_finite, 2);
}

TEST(AccuracyCounter, CountsSeveralLabelsOfANode) {
  const auto comm = make_self_communicator();
  AccuracyCounter counter(at::kCPU);
  //                          logits                       labels
  counter.add(rows_of({1, -1, 2, -3, 0, 4, 5, 6, -7}, 3),
              at::tensor({1, 0, 0, 1, 1, -1, 1, -1, 0}, at::kChar).view({3, 3}));
  const InferenceCounts counts = counter.sum_over_ranks(*comm);
  EXPECT_EQ(counts.nodes, 3);
  EXPECT_EQ(counts.labelled, 7);
  EXPECT_EQ(counts.correct, 4);    // node 0: labels 0 and 1; node 2: labels 0 and 2; a logit of 0 predicts nothing
  EXPECT_EQ(counts.positives, 4);  // node 0: 0; node 1: 0, 1; node 2: 0
  EXPECT_EQ(counts.predicted_positives, 3);  // node 0: 0, 2; node 2: 0; unknown labels do not count
  EXPECT_EQ(counts.true_positives, 2);
  EXPECT_DOUBLE_EQ(counts.f1(), 2.0 * 2 / (4 + 3));
  EXPECT_DOUBLE_EQ(counts.accuracy(), 4.0 / 7);
}

TEST(InferenceCounts, AreZeroWithoutLabels) {
  EXPECT_EQ(InferenceCounts{}.accuracy(), 0);
  EXPECT_EQ(InferenceCounts{}.f1(), 0);
}

}  // namespace
}  // namespace salient
