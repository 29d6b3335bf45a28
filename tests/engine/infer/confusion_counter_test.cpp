// tests/engine/infer/confusion_counter_test.cpp - counts by true class, then predicted, over batches; unlabelled nodes
// nowhere.
#include "engine/infer/confusion_counter.h"

#include <ATen/ops/eye.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include "engine/comm/make_communicator.h"

namespace salient {
namespace {

/// Logits whose largest is that of each class given.
at::Tensor logits_of(std::vector<std::int64_t> predicted, std::int64_t num_classes) {
  return at::eye(num_classes).index_select(0, at::tensor(predicted));
}

TEST(ConfusionCounter, CountsByTrueClassThenPredicted) {
  const auto comm = make_self_communicator();
  ConfusionCounter counter(3, at::kCPU);
  counter.add(logits_of({0, 1, 1, 2}, 3), at::tensor({0, 0, 0, 1}, at::kInt));
  counter.add(logits_of({2, 2}, 3), at::tensor({1, -1}, at::kInt));
  counter.add(logits_of({}, 3), at::tensor(std::vector<int>{}, at::kInt));  // a rank that has run out
  EXPECT_EQ(counter.sum_over_ranks(*comm).matrix, (std::vector<std::int64_t>{1, 2, 0, 0, 0, 2, 0, 0, 0}));
  counter.clear();
  counter.add(logits_of({2}, 3), at::tensor({2}, at::kInt));
  EXPECT_EQ(counter.sum_over_ranks(*comm).matrix, (std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 0, 1}));
}

TEST(ConfusionCounter, OfManyClassesCountsEachAlone) {
  const auto comm = make_self_communicator();
  ConfusionCounter few(256, at::kCPU), many(257, at::kCPU);
  EXPECT_TRUE(few.has_matrix());
  EXPECT_FALSE(many.has_matrix());
  for (ConfusionCounter* counter : {&few, &many}) {
    const std::int64_t width = counter == &few ? 256 : 257;
    counter->add(logits_of({0, 1, 1, 255}, width), at::tensor({0, 0, 1, 255}, at::kInt));
    counter->add(logits_of({2, 2}, width), at::tensor({1, -1}, at::kInt));
    const ConfusionCounter::Sums sums = counter->sum_over_ranks(*comm);
    EXPECT_EQ(sums.matrix.empty(), counter == &many);
    const auto at = [](const std::vector<std::int64_t>& counts) {
      return std::vector<std::int64_t>{counts[0], counts[1], counts[2], counts[255]};
    };
    EXPECT_EQ(at(sums.tally.labelled), (std::vector<std::int64_t>{2, 2, 0, 1}));
    EXPECT_EQ(at(sums.tally.predicted), (std::vector<std::int64_t>{1, 2, 1, 1}));
    EXPECT_EQ(at(sums.tally.correct), (std::vector<std::int64_t>{1, 1, 0, 1}));
  }
}

}  // namespace
}  // namespace salient
