// tests/models/kernels/multilabel_bce_loss_test.cpp - the loss of several labels a node equals its reference.
#include "models/kernels/multilabel_bce_loss.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/multilabel_case.h"
#include "tests/support/threads.h"

namespace salient {
namespace {

using test::MultilabelCase;

struct Outcome {
  BceSums sums{};
  std::vector<float> grad{};
};

Outcome outcome_of(const MultilabelCase& labels, double smoothing) {
  Outcome outcome{{}, std::vector<float>(labels.logits.size(), NAN)};
  outcome.sums =
      multilabel_bce_loss(BceTarget::make(smoothing), labels.logits, labels.flags.data(), outcome.grad.data());
  return outcome;
}

TEST(MultilabelBceLoss, EqualsTheReference) {
  for (const std::size_t count : {0u, 1u, 5u, 4096u, 4097u, 100'000u})
    for (const double smoothing : {0.0, 0.1, 0.9}) {
      const MultilabelCase labels = MultilabelCase::make(count);
      std::vector<float> grad(count, NAN);
      MultilabelCase moderate = labels;  // the reference takes the logarithm of 0 far out
      for (float& z : moderate.logits) z = std::fmax(-15.0f, std::fmin(15.0f, z));
      const BceSums expected = multilabel_bce_loss_reference(BceTarget::make(smoothing), moderate.logits,
                                                             moderate.flags.data(), grad.data());
      const Outcome found = outcome_of(moderate, smoothing);
      EXPECT_NEAR(found.sums.loss, expected.loss, 1e-6 * expected.loss + 1e-6) << count;
      EXPECT_EQ(found.sums.correct, expected.correct);
      for (std::size_t i = 0; i < count; ++i) ASSERT_NEAR(found.grad[i], grad[i], 1e-6) << moderate.logits[i];
    }
}

TEST(MultilabelBceLoss, IsFiniteAndRightFarOut) {
  const MultilabelCase labels{{200, -200, 200, -200, 0, INFINITY}, {1, 0, 0, 1, 1, -1}};
  const Outcome found = outcome_of(labels, 0);
  EXPECT_DOUBLE_EQ(found.sums.loss, 400 + static_cast<double>(std::log1p(1.0f)));
  EXPECT_EQ(found.sums.correct, 2) << "a logit of 0 predicts that the label is not there";
  EXPECT_EQ(found.grad, (std::vector<float>{0, 0, 1, -1, -0.5f, 0}));
}

TEST(MultilabelBceLoss, NotANumberIsSeen) {
  EXPECT_TRUE(std::isnan(outcome_of({{1, NAN}, {1, 0}}, 0).sums.loss));
  EXPECT_FALSE(std::isnan(outcome_of({{1, NAN}, {1, -1}}, 0).sums.loss));
}

TEST(MultilabelBceLoss, SameBitsForAnyNumberOfThreads) {
  const MultilabelCase labels = MultilabelCase::make(50'000);
  Outcome alone, found;
  test::with_threads(1, [&] { alone = outcome_of(labels, 0.1); });
  for (const int threads : {2, 4}) {
    test::with_threads(threads, [&] { found = outcome_of(labels, 0.1); });
    EXPECT_EQ(found.sums.loss, alone.sums.loss);
    EXPECT_EQ(found.grad, alone.grad);
  }
}

}  // namespace
}  // namespace salient
