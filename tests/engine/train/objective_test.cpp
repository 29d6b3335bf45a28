// tests/engine/train/objective_test.cpp - the smoothed loss equals torch's, unlabelled seeds do not count.
#include "engine/train/objective.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "models/ops/multilabel_bce_loss.h"
#include "tests/support/scratch.h"

namespace salient {
namespace {

std::string no_facts() { return ""; }

TEST(Objective, EqualsTorchsCrossEntropy) {
  const at::Tensor logits = at::randn({40, 7}), labels = at::randint(0, 7, {40}, at::kLong);
  for (const double smoothing : {0.0, 0.1, 0.9}) {
    at::Tensor ours = logits.clone().requires_grad_(), torchs = logits.clone().requires_grad_();
    const at::Tensor loss = cross_entropy_sum(ours, labels, smoothing);
    const at::Tensor expected =
        at::cross_entropy_loss(torchs, labels, {}, at::Reduction::Sum, /*ignore_index=*/-100, smoothing);
    EXPECT_TRUE(at::allclose(loss, expected, 1e-5)) << smoothing;
    loss.backward();
    expected.backward();
    EXPECT_TRUE(at::allclose(ours.grad(), torchs.grad(), 1e-5, 1e-6)) << smoothing;
  }
}

TEST(Objective, WithClassWeightsEqualsTorchsWeightedMean) {
  const at::Tensor logits = at::randn({40, 5}), labels = at::randint(0, 5, {40}, at::kLong);
  const at::Tensor weights = at::tensor({0.25f, 4.0f, 1.0f, 0.0f, 2.5f});
  for (const double smoothing : {0.0, 0.1}) {
    at::Tensor ours = logits.clone().requires_grad_(), torchs = logits.clone().requires_grad_();
    const at::Tensor loss = cross_entropy_sum(ours, labels, smoothing, weights) / weights.index_select(0, labels).sum();
    const at::Tensor expected =
        at::cross_entropy_loss(torchs, labels, weights, at::Reduction::Mean, /*ignore_index=*/-100, smoothing);
    EXPECT_TRUE(at::allclose(loss, expected, 1e-5)) << smoothing;
    loss.backward();
    expected.backward();
    EXPECT_TRUE(at::allclose(ours.grad(), torchs.grad(), 1e-5, 1e-6)) << smoothing;
  }
}

TEST(Objective, TakesTheWeightsOfItsSpec) {
  const auto comm = make_self_communicator();
  Objective plain({}, 1, at::kCPU), weighted({.class_weights = {3, 3}}, 1, at::kCPU);
  const at::Tensor logits = at::randn({6, 2}), y = at::tensor({0, 1, 1, -1, 0, 1}, at::kInt);
  EXPECT_NEAR(weighted.loss_sum(0, logits, y).item<double>(), 3 * plain.loss_sum(0, logits, y).item<double>(), 1e-5);
  EXPECT_EQ(weighted.collect(*comm, 1, 0, 1, no_facts)[0].correct, plain.collect(*comm, 1, 0, 1, no_facts)[0].correct);
}

TEST(Objective, OfValuesEqualsTorchsLossesOfTheKnownOnes) {
  const auto comm = make_self_communicator();
  const at::Tensor outputs = at::randn({30, 2}) * 2, values = at::randn({30, 2}) * 2;
  const at::Tensor is_known = at::rand({30, 2}).gt(0.3), index = is_known.view(-1).nonzero().squeeze(1);
  const at::Tensor known = values.masked_fill(is_known.logical_not(), NAN);
  const auto torchs = [&](RegressionLoss loss, const at::Tensor& of) {
    const at::Tensor a = of.reshape(-1).index_select(0, index), b = values.reshape(-1).index_select(0, index);
    if (loss == RegressionLoss::kMse) return at::mse_loss(a, b, at::Reduction::Sum);
    if (loss == RegressionLoss::kMae) return at::l1_loss(a, b, at::Reduction::Sum);
    return at::huber_loss(a, b, at::Reduction::Sum, 1.0);
  };
  for (const auto& [loss, name] : names_of(RegressionLoss{})) {
    at::Tensor ours = outputs.clone().requires_grad_(), theirs = outputs.clone().requires_grad_();
    const at::Tensor sum = regression_loss_sum(ours, known, loss), expected = torchs(loss, theirs);
    EXPECT_TRUE(at::allclose(sum, expected, 1e-5)) << name;
    sum.backward();
    expected.backward();
    EXPECT_TRUE(at::allclose(ours.grad(), theirs.grad(), 1e-5, 1e-6)) << name;
    // in units of deviations 4 and 0.5, from the means 10 and -3 on
    Objective objective({.regression = loss, .target_scales = {10, -3, 4, 0.5}}, 1, at::kCPU);
    const at::Tensor scales = at::tensor({10.0F, -3.0F, 4.0F, 0.5F}).view({2, 2});
    EXPECT_TRUE(at::allclose(objective.loss_sum(0, outputs, known * scales[1] + scales[0]), sum, 1e-4)) << name;
    EXPECT_NEAR(objective.collect(*comm, 1, 0, 1, no_facts)[0].loss, sum.item<double>(), 1e-4 * sum.item<double>());
  }
}

TEST(Objective, AGlanceHasTheStepsSinceTheEpochBegan) {
  Objective objective({}, 4, at::kCPU);
  EXPECT_EQ(objective.glance(1, 1).steps, 0u);
  (void)objective.record(1, at::scalar_tensor(3.0));
  (void)objective.record(2, at::scalar_tensor(0.5));
  EXPECT_EQ(objective.glance(1, 3).steps, 2u);
  EXPECT_EQ(objective.glance(1, 3).loss, 3.5);
  objective.start_epoch();
  EXPECT_EQ(objective.glance(0, 1).loss, 0);
}

TEST(Objective, UnlabelledRowsAddNothing) {
  const at::Tensor logits = at::randn({10, 3}), labels = at::randint(0, 3, {10}, at::kLong);
  const at::Tensor some = labels.clone();
  some.narrow(0, 4, 6).fill_(-1);
  const at::Tensor loss = cross_entropy_sum(logits, some, 0.2);
  EXPECT_TRUE(at::allclose(loss, cross_entropy_sum(logits.narrow(0, 0, 4), labels.narrow(0, 0, 4), 0.2)));
}

TEST(Objective, SeveralLabelsEqualTorchsBinaryCrossEntropyOfTheKnownOnes) {
  const at::Tensor logits = at::randn({40, 7}) * 4, flags = at::randint(-1, 2, {40, 7}, at::kChar);
  const at::Tensor known = flags.ge(0).nonzero().unbind(1)[0], label = flags.ge(0).nonzero().unbind(1)[1];
  for (const double smoothing : {0.0, 0.2}) {
    at::Tensor ours = logits.clone().requires_grad_(), torchs = logits.clone().requires_grad_();
    const at::Tensor sums = at::full({2}, NAN, at::kDouble);
    const at::Tensor loss = multilabel_bce_loss_sum(ours, flags, smoothing, sums);
    const at::Tensor target = flags.index({known, label}).to(at::kFloat) * (1 - smoothing) + smoothing / 2;
    const at::Tensor expected =
        at::binary_cross_entropy_with_logits(torchs.index({known, label}), target, {}, {}, at::Reduction::Sum);
    EXPECT_TRUE(at::allclose(loss, expected, 1e-5)) << smoothing;
    EXPECT_NEAR(sums[0].item<double>(), expected.item<double>(), 1e-5 * expected.item<double>());
    const at::Tensor correct = logits.gt(0).eq(flags.eq(1)).logical_and(flags.ge(0)).sum();
    EXPECT_EQ(sums[1].item<double>(), correct.item<double>());
    (loss * 3).backward();
    (expected * 3).backward();
    EXPECT_TRUE(at::allclose(ours.grad(), torchs.grad(), 1e-5, 1e-6)) << smoothing;
    EXPECT_TRUE(ours.grad().masked_select(flags.lt(0)).eq(0).all().item<bool>());
  }
}

TEST(Objective, KeepsTheSumsOfSeveralLabels) {
  const auto comm = make_self_communicator();
  Objective objective({}, 2, at::kCPU);
  const at::Tensor logits = at::tensor({9.0f, -9.0f, 9.0f, 9.0f, 9.0f, -9.0f}).view({3, 2});
  const at::Tensor y = at::tensor({1, 0, 0, -1, 1, 1}, at::kChar).view({3, 2});
  const at::Tensor loss = objective.loss_sum(1, logits, y);
  const std::vector<Objective::StepSums> sums = objective.collect(*comm, 1, 0, 2, no_facts);
  EXPECT_EQ(sums[0].correct, 0);
  EXPECT_EQ(sums[1].correct, 3);
  EXPECT_NEAR(sums[1].loss, 18.0006, 1e-3);
  EXPECT_NEAR(sums[1].loss, loss.item<double>(), 1e-5);
}

TEST(Objective, KeepsTheSumsOfEveryStep) {
  const auto comm = make_self_communicator();
  Objective objective({}, 3, at::kCPU);
  const at::Tensor logits = at::tensor({9.0f, 0.0f, 0.0f, 9.0f, 9.0f, 0.0f}).view({3, 2});
  const at::Tensor y = at::tensor({0, 1, 1}, at::kInt);
  const at::Tensor loss = objective.loss_sum(1, logits, y);
  const std::vector<Objective::StepSums> sums = objective.collect(*comm, 1, 0, 2, no_facts);
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].loss, 0);
  EXPECT_EQ(sums[1].correct, 2);
  EXPECT_EQ(sums[1].loss, static_cast<double>(loss.item<float>()));
  objective.start_epoch();
  EXPECT_EQ(objective.collect(*comm, 1, 1, 2, no_facts)[0].loss, 0);
}

TEST(Objective, NamesTheFeaturesWhereTheFirstLossIsNoNumber) {
  const auto comm = make_self_communicator();
  Objective objective({}, 2, at::kCPU);
  (void)objective.loss_sum(0, at::full({1, 2}, NAN), at::zeros({1}, at::kInt));
  const auto collect = [&](int epoch) {
    (void)objective.collect(*comm, epoch, 0, 2, [] { return std::string("the largest feature is 9"); });
  };
  EXPECT_COMPLAINT(collect(1), ErrorKind::kDiverged,
                   "epoch 1, step 1, before any update, so it comes from the features: the largest feature is 9");
  EXPECT_COMPLAINT(collect(2), ErrorKind::kDiverged, "the loss is not a number at epoch 2, step 1");
}

TEST(Objective, NamesTheStepThatDiverged) {
  const auto comm = make_self_communicator();
  Objective objective({}, 5, at::kCPU);
  (void)objective.loss_sum(2, at::full({1, 2}, NAN), at::zeros({1}, at::kInt));
  EXPECT_COMPLAINT((void)objective.collect(*comm, 7, 1, 5, no_facts), ErrorKind::kDiverged, "epoch 7, step 3");
}

}  // namespace
}  // namespace salient
